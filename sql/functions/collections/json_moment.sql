-- The day or time in a JSON text in ISO 8601 format; null if there is none, or for a day that does not exist. Without a time zone, the
-- session's applies.
create or replace function json_moment(p_text text) returns timestamptz
language sql stable parallel safe
as $$
  select case
    when p_text ~ ('^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])'
        || '([Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)? ?([Zz]|[-+](0\d|1[0-4])(:?[0-5]\d)?)?)?$')
    then case
      when substr(p_text, 9, 2)::int <= date_part('day', (substr(p_text, 1, 7) || '-01')::date + interval '1 month - 1 day')
      then replace(p_text, ',', '.')::timestamptz
    end
  end
$$;
