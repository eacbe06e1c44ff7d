-- The words of a card, as in its search vector (text_search).
create or replace function card_text(c experience_cards) returns text
language sql immutable parallel safe
return searchable_text(
  c.title, c.company_name, c.team, c.intent_primary, joined_names(c.intent_secondary), c.domain, c.sub_domain, c.employment_type,
  c.seniority_level, c.location, c.city, c.country, c.summary, joined_names(c.skills), joined_names(c.search_phrases));
