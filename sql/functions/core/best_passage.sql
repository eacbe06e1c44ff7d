-- A passage of a text for a snippet, with an ellipsis where it was cut: of the passages around the first match of each pattern
-- (regular expressions, whatever the case) the one that matches most of them; the beginning where none matches. Of a very long text
-- the first max_text characters are looked at.
create or replace function best_passage(p_text text, p_patterns text[]) returns text
language plpgsql immutable parallel safe
as $$
declare
  passage_length constant int := 220;
  max_text constant int := 20000;
  lead constant int := 60;  -- characters before the match
  last_place constant int := length(p_text) - passage_length + 1;
  place int;
  passage text;
  pattern text;
  other text;
  hits int;
  best_place int := 1;
  best_hits int := 0;
begin
  if last_place <= 1 then
    return p_text;
  end if;
  foreach pattern in array p_patterns loop
    place := regexp_instr(left(p_text, max_text), pattern, 1, 1, 0, 'i');
    continue when place = 0;
    place := greatest(1, least(place - lead, last_place));
    if cardinality(p_patterns) = 1 then
      best_place := place;
      exit;
    end if;
    passage := substr(p_text, place, passage_length);
    hits := 0;
    foreach other in array p_patterns loop
      if passage ~* other then
        hits := hits + 1;
      end if;
    end loop;
    if hits > best_hits then
      best_hits := hits;
      best_place := place;
    end if;
    exit when best_hits = cardinality(p_patterns);
  end loop;
  passage := substr(p_text, best_place, passage_length);
  if best_place > 1 then  -- without what is left of a word
    passage := '… ' || substr(passage, 1 + strpos(passage, ' '));
  end if;
  if best_place < last_place then
    passage := coalesce(left(passage, -nullif(strpos(reverse(passage), ' '), 0)), passage) || ' …';
  end if;
  return passage;
end
$$;
