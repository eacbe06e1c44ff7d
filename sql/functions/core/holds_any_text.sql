-- Whether a text contains any of some lower-case texts.
create or replace function holds_any_text(p_text text, p_texts text[]) returns boolean
language sql immutable parallel safe
return exists (select from unnest(p_texts) t (text) where strpos(lower(p_text), t.text) > 0);
