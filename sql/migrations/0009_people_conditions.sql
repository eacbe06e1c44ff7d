-- What people are looked for by beyond 0003: roles and fields by their words, when something began and ended, schools by themselves,
-- words of what people say of themselves, and names.

-- What somebody is or does, by an experience: its role, field, skills and what kind of work it was.
create function role_words(
  title text, domain text, sub_domain text, team text, skills text[], seniority_level text, employment_type text, intent_primary text
) returns tsvector
language sql immutable parallel safe
return to_tsvector('english', searchable_text(
  title, domain, sub_domain, team, joined_names(skills), seniority_level, replace(employment_type, '_', ' '),
  case when intent_primary <> 'work' then replace(intent_primary, '_', ' ') end));

alter table experience_cards add column role_search tsvector not null generated always as (role_words(
  title, domain, sub_domain, team, skills, seniority_level, employment_type, intent_primary)) stored;
create index experience_cards_role_search on experience_cards using gin (role_search) with (fastupdate = off);

alter table people add column text_search tsvector not null
  generated always as (to_tsvector('english', searchable_text(name, headline, bio))) stored;
create index people_text_search on people using gin (text_search) with (fastupdate = off);
create index people_name on people (lower(btrim(name)));

-- Each of `roles` must hold; what stands between bars in one are its names.
alter type card_filters add attribute roles text[];
alter type card_filters add attribute schools text[];
alter type card_filters add attribute started_from date;
alter type card_filters add attribute started_until date;
alter type card_filters add attribute ended_from date;
alter type card_filters add attribute ended_until date;

-- Who is left out, beside those of a company or with a keyword: see card_rules_out.
alter type card_filters add attribute excluded_teams text[];
alter type card_filters add attribute excluded_places text[];
alter type card_filters add attribute excluded_current boolean;
alter type card_filters add attribute excluded_time_start date;
alter type card_filters add attribute excluded_time_end date;
