-- The text search configuration that a value names: by its own name ("german"), or by an ISO 639-1 code, with or without a country ("de",
-- "de-AT"); `simple` if none matches.
create or replace function text_language(p_name text) returns text
language sql stable parallel safe
as $$
  select coalesce((
    select c.cfgname from pg_ts_config c
    where pg_ts_config_is_visible(c.oid) and c.cfgname in (n.name, (
      select k.language
      from unnest(
        '{ar,hy,eu,ca,da,nl,en,fi,fr,de,el,hi,hu,id,ga,it,lt,ne,no,nb,nn,pt,ro,ru,sr,es,sv,ta,tr,yi}'::text[],
        '{arabic,armenian,basque,catalan,danish,dutch,english,finnish,french,german,greek,hindi,hungarian,indonesian,irish,italian,
          lithuanian,nepali,norwegian,norwegian,norwegian,portuguese,romanian,russian,serbian,spanish,swedish,tamil,turkish,
          yiddish}'::text[]) k (code, language)
      where k.code = substring(n.name from '^([a-z]{2})([-_].*)?$')))
    order by c.cfgname = n.name desc limit 1), 'simple')
  from (select lower(btrim(p_name)) as name) n
$$;
