-- A card in the form shown, with the named children; with all of them if p_children is null. Only the previous release uses
-- `search_phrases`.
create or replace function card_family(c experience_cards, p_children text[] default null) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'id', c.id, 'title', c.title, 'company_name', c.company_name, 'team', c.team, 'intent_primary', c.intent_primary,
    'intent_secondary', c.intent_secondary, 'domain', c.domain, 'sub_domain', c.sub_domain, 'employment_type', c.employment_type,
    'seniority_level', c.seniority_level, 'location', c.location, 'city', c.city, 'country', c.country, 'start_date', c.start_date,
    'end_date', c.end_date, 'is_current', c.is_current, 'summary', c.summary, 'skills', c.skills, 'search_phrases', c.search_phrases,
    'children', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', k.id, 'child_type', k.child_type, 'title', k.title, 'headline', k.headline, 'summary', k.summary,
        'context', k.context, 'tags', k.tags, 'search_phrases', k.search_phrases) order by k.id)
      from experience_card_children k
      where k.card_id = c.id and (p_children is null or k.id = any(p_children))), '[]'))
$$;
