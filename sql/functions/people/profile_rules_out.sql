-- Whether a name or headline contains an exclusion: `p_keywords` as a query, `p_said` as written, and `p_phrases`, the excluded keywords of
-- several words. A single word does not match a name: "no bakers" may find Ms Baker. It is simple enough to be inlined.
create or replace function profile_rules_out(p people, p_keywords tsquery, p_said tsquery, p_phrases tsquery) returns boolean
language sql immutable parallel safe
as $$
  select p.text_search @@ p_keywords and (
    says(searchable_text(p.headline), p_said)
    or coalesce(says(searchable_text(p.name), p_phrases), false))
$$;
