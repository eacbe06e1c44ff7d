-- Whether a card is of an excluded company, team, place or time, or contains an excluded keyword; `p_keywords` and `p_places` are the
-- exclusions as queries, `p_said` the keywords as written (said_phrases): words that only share their stems exclude nothing. It is simple
-- enough to be inlined, like card_matches.
create or replace function card_is_excluded(c experience_cards, f card_filters, p_keywords tsquery, p_said tsquery, p_places tsquery) returns boolean
language sql immutable parallel safe
as $$
  select (f.excluded_companies is not null and c.company_norm = any(f.excluded_companies))
    or (f.excluded_teams is not null and c.team_norm = any(f.excluded_teams))
    or (p_keywords is not null and c.text_search @@ p_keywords and says(card_text(c), p_said))
    or (p_places is not null and c.places @@ p_places)
    or ((f.excluded_time_start is not null or f.excluded_time_end is not null)
      and (c.start_date is not null or c.end_date is not null)
      and (f.excluded_time_end is null or c.start_date is null or c.start_date <= f.excluded_time_end)
      and (f.excluded_time_start is null or c.end_date is null or c.end_date >= f.excluded_time_start))
$$;
