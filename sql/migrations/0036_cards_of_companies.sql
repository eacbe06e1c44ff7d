-- Whose cards are of a company is answered from the index alone, without the cards, which are twenty times as large.
drop index experience_cards_company;
create index experience_cards_company on experience_cards (company_norm) include (id, person_id, visible);
