-- Companies are listed from those founded last, of which so many are looked at for what they must not be.
create index companies_founded_year on companies (founded_year desc nulls last, id);
