-- Ein Friseursalon mit zwei Filialen. Preise in Euro, Dauer in Minuten. Stichtag 2026-03-18.
create table termine (
    nr int primary key,
    leistung text not null,
    filiale text not null,
    status text not null,
    friseurin text,
    kundin text not null,
    stammkundin boolean not null,
    gebucht_am date not null,
    termin_am date not null,
    preis_eur numeric(7, 2) not null,
    trinkgeld_eur numeric(6, 2),
    dauer_min int not null,
    kanal text not null
);
insert into termine
select n, leistung, filiale, status, case when status = 'erledigt' or n % 4 > 0 then friseurin end,
    (array['Marta Brandt', 'Ilse Vogt', 'Ayla Demir', 'Jana Kolb', 'Ruth Sommer', 'Ayla Demir', 'Nele Fuchs'])[1 + (n * 6007 % 997) % 7], n % 3 > 0,
    termin_am - 1 - (n * 13) % 27, termin_am, 18 + (n * 7109 % 1019) * 0.15, case when status = 'erledigt' and n % 5 > 1 then 1 + (n * 31) % 9 end, 15 + (n * 5059 % 1013) % 150,
    (array['Telefon', 'online', 'online', 'Laufkundschaft', 'Telefon', 'online'])[1 + (n * 5501 % 971) % 6]
from (
    select n,
        (array['Waschen und Schneiden', 'Färben', 'Dauerwelle', 'Waschen und Schneiden', 'Bartpflege', 'Strähnen', 'Färben'])[1 + (n * 7919 % 1009) % 7] as leistung,
        (array['Altstadt', 'Bahnhof', 'Altstadt', 'Bahnhof', 'Altstadt'])[1 + (n * 3571 % 991) % 5] as filiale,
        (array['Svenja', 'Kirsten', 'Svenja', 'Tarek', 'Svenja', 'Kirsten'])[1 + (n * 2741 % 983) % 6] as friseurin,
        case when n > 76 then case when n % 6 = 0 then 'angefragt' else 'gebucht' end when n % 10 = 0 then 'abgesagt' when n % 13 = 0 then 'nicht erschienen' else 'erledigt' end as status,
        date '2025-06-03' + (n * 15) / 4 as termin_am
    from generate_series(1, 88) as n
) as kalender;
