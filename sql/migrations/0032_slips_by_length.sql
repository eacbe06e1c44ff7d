-- Stems that are spelt like a word are near to it in length too. Of 100,000 names that end alike ("….example") each had to be compared.
drop index facet_words_trigrams;
create index facet_words_slips on facet_words using gin (stem gin_trgm_ops, (array[length(stem)]));
