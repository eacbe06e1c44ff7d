-- Whether a card is visible and excludes its person: it meets p_within, which is what the search asks of an experience, and is excluded
-- (card_is_excluded, which explains the queries). An excluded state, such as being in work, is one of the person: any card shows it. It is
-- simple enough to be inlined, like card_matches.
create or replace function card_rules_out(
  c experience_cards, f card_filters, p_within card_filters, p_keywords tsquery, p_said tsquery, p_places tsquery
) returns boolean
language sql immutable parallel safe
as $$
  select c.visible and (
    (f.excluded_current is not null and c.is_current = f.excluded_current)
    or card_matches(c, null::people, p_within) and card_is_excluded(c, f, p_keywords, p_said, p_places))
$$;
