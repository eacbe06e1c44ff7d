-- The words of a child of a card, as in its search vector (text_search).
create or replace function child_text(k experience_card_children) returns text
language sql immutable parallel safe
return searchable_text(k.title, k.headline, k.summary, k.context, joined_names(k.tags), joined_names(k.search_phrases));
