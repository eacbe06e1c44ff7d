-- A passage of a text for a snippet: of the passages around the first match of each pattern (case-insensitive regular expressions), the one
-- that matches most patterns; the beginning if none matches. It starts and ends at a sentence or line, otherwise at a word, with an
-- ellipsis. Of a very long text, the first max_text characters are used.
create or replace function best_passage(p_text text, p_patterns text[]) returns text
language plpgsql immutable parallel safe
as $$
declare
  passage_length constant int := 220;
  max_text constant int := 20000;
  lead constant int := 100;  -- characters before the match
  least_length constant int := 140;  -- to keep when ending at a sentence
  sentence_end constant text := '[.!?]["”’)]*\s+|[。！？]|\n';
  last_place constant int := length(p_text) - passage_length + 1;
  place int;
  passage text;
  sentence text;
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
  if best_place < last_place then
    sentence := substring(passage from '^(.*(?:[.!?]["”’)]*(?=\s)|[。！？]))');
    passage := case
      when length(sentence) >= least_length then sentence
      -- without a partial word
      else coalesce(left(passage, -nullif(strpos(reverse(passage), ' '), 0)), passage) || ' …'
    end;
  end if;
  if best_place > 1 then
    sentence := substring(left(passage, lead) from '^(.*(?:' || sentence_end || '))');
    passage := case
      when sentence is not null then substr(passage, 1 + length(sentence))
      else '… ' || substr(passage, 1 + strpos(passage, ' '))
    end;
  end if;
  return passage;
end
$$;
