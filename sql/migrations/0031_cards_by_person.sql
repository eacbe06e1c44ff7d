-- What is asked of cards for which no other index serves (how they relate to now and to a time, what they are, of whom) is answered from
-- the index of a person's cards alone, without the cards, which are twenty times as large.
drop index experience_cards_person_id;
create index experience_cards_person_id on experience_cards (person_id, visible)
  include (id, intent_primary, employment_type, seniority_level, is_current, start_date, end_date);
