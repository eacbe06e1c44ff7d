-- Whether what somebody is called or calls themselves holds something excluded: `p_keywords` as a query, `p_said` as it stands, and
-- `p_phrases`, the excluded keywords of several words. A single word is no name: of "no bakers", Ms Baker may be found. It is plain enough to
-- be inlined.
create or replace function profile_rules_out(p people, p_keywords tsquery, p_said tsquery, p_phrases tsquery) returns boolean
language sql immutable parallel safe
as $$
  select p.text_search @@ p_keywords and (
    says(searchable_text(p.headline), p_said)
    or coalesce(says(searchable_text(p.name), p_phrases), false))
$$;
