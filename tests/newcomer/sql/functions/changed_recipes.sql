-- Which recipes have a new text, for searches by words.
select keep_texts_noted('recipes');
