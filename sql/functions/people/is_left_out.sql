-- Whether a person is to be left out who is not left out by name: where p_excluded_people is null, since they are too many, each
-- candidate is tested (is_ruled_out). It is plain enough to be inlined.
create or replace function is_left_out(p_person_id text, p_filters card_filters, p_excluded_people text[]) returns boolean
language sql stable
as $$
  select p_excluded_people is null
    and is_ruled_out(p_person_id, p_filters, any_phrase(p_filters.excluded_keywords), any_place(p_filters.excluded_places))
$$;
