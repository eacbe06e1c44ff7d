-- Whether a text contains words as written (said_phrases). It reads the text, so use it on texts that contain the words by their stems.
create or replace function says(p_text text, p_said tsquery) returns boolean
language plpgsql immutable parallel safe
cost 1000
as $$
begin
  return to_tsvector('simple', p_text) @@ p_said;
end
$$;
