-- Whether a single card meets all of the filters.
create or replace function fits_one_card(p_filters card_filters) returns boolean
language plpgsql stable
as $$
declare
  fits boolean;
begin
  execute format('select exists (select from experience_cards c where %s)', card_condition('c', p_filters, '{}', null)) into fits;
  return fits;
end
$$;
