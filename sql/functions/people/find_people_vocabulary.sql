-- Which of `p_phrases` (lower case) are names that visible cards hold; among the companies, also those that are spelt nearly like one
-- of `p_like` or that one of these is the beginning of. One row; everything is looked up by index.
create or replace function find_people_vocabulary(p_phrases text[], p_like text[] default '{}') returns table (
  companies text[], teams text[], domains text[], sub_domains text[], cities text[], countries text[], skills text[]
)
language sql stable
set pg_trgm.similarity_threshold = 0.5
as $$
  with phrases as materialized (select distinct p.phrase from unnest(p_phrases) p (phrase))
  select
    array(
      select phrase from phrases where exists (select from experience_cards c where c.company_norm = phrase and c.visible)
      union
      select near.company_norm
      from unnest(p_like) l (name), lateral regexp_replace(l.name, '([\\%_])', '\\\1', 'g') e (name), lateral (
        select c.company_norm from experience_cards c
        where c.visible and (c.company_norm % l.name or c.company_norm like e.name || ' %' or c.company_norm like e.name || ',%')
        limit 500
      ) near),
    array(select phrase from phrases where exists (select from experience_cards c where c.team_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.domain_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.sub_domain_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.city_norm = phrase and c.visible)),
    array(select phrase from phrases where exists (select from experience_cards c where c.country_norm = phrase and c.visible)),
    array(select phrase from phrases
      where exists (select from experience_cards c where lowered_names(c.skills) @> array[phrase] and c.visible))
$$;
