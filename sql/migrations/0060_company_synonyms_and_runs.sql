-- Other words for what companies are filed under, as the owner of the data says them, each with the value that it stands for.
create table company_synonyms (
  id text primary key,
  said text not null,
  field text not null check (field in ('sector', 'category', 'business_model', 'niche')),
  value text not null
);
