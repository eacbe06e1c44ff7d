"""The places that a query may name, beside those of the data: no complete list of the world, but where its larger employers are.

A line is a country and its cities, or a region and what lies in it. `=` joins the spellings of one place, the usual one first.
Where two cities share a name, the larger one stands here.
"""

from __future__ import annotations

COUNTRIES = """
india=bharat: bengaluru=bangalore=blr=bengalooru, mumbai=bombay, navi mumbai, thane, pune=poona,
 hyderabad=secunderabad, chennai=madras, delhi=new delhi, gurugram=gurgaon, noida, greater noida, ghaziabad,
 faridabad, kolkata=calcutta, howrah, ahmedabad=amdavad, gandhinagar, surat, vadodara=baroda, rajkot, jaipur, jodhpur,
 udaipur, kota, ajmer, kochi=cochin, thiruvananthapuram=trivandrum, kozhikode=calicut, thrissur=trichur, kollam,
 kottayam, alappuzha=alleppey, kannur, palakkad, idukki, indore, bhopal, gwalior, jabalpur, ujjain, coimbatore=kovai,
 madurai, tiruchirappalli=trichy, salem, tiruppur=tirupur, vellore, hosur, thoothukudi=tuticorin, tirunelveli, erode,
 chandigarh, mohali=sas nagar, panchkula, ludhiana, amritsar, jalandhar, patiala, bathinda, mysuru=mysore,
 mangaluru=mangalore, hubballi=hubli, belagavi=belgaum, udupi, dharwad, visakhapatnam=vizag, vijayawada, guntur,
 tirupati, nellore, warangal, nagpur, nashik=nasik, aurangabad=chhatrapati sambhajinagar, kolhapur, solapur, lucknow,
 kanpur, agra, varanasi=banaras=benares, prayagraj=allahabad, meerut, mathura, patna, ranchi, jamshedpur, dhanbad,
 raipur, bhubaneswar, cuttack, rourkela, guwahati=gauhati, shillong, siliguri, darjeeling, dehradun, haridwar, shimla,
 jammu, srinagar, panaji=panjim, puducherry=pondicherry, bhiwandi, lonavla, sanand, bhuj, gandhidham, mundra
pakistan: karachi, lahore, islamabad, rawalpindi, faisalabad, peshawar
bangladesh: dhaka=dacca, chittagong=chattogram, sylhet
sri lanka=ceylon: colombo, kandy, galle, jaffna, negombo
nepal: kathmandu, pokhara
bhutan: thimphu
maldives: male
united arab emirates=uae=emirates: dubai, abu dhabi, sharjah, ajman, ras al khaimah
saudi arabia=ksa: riyadh, jeddah=jiddah, dammam, mecca=makkah
qatar: doha
kuwait: kuwait city
bahrain: manama
oman: muscat
israel: tel aviv, jerusalem, haifa
lebanon: beirut
jordan: amman
turkey=türkiye: istanbul, ankara, izmir
iran: tehran
iraq: baghdad
egypt: cairo, alexandria
morocco: casablanca, rabat, marrakesh=marrakech
tunisia: tunis
nigeria: lagos, abuja, ibadan, kano, port harcourt
ghana: accra, kumasi
senegal: dakar
ivory coast=côte d'ivoire: abidjan
kenya: nairobi, mombasa, kisumu, nakuru, eldoret, thika, naivasha
uganda: kampala, entebbe
tanzania: dar es salaam, dodoma, arusha
rwanda: kigali
ethiopia: addis ababa
zambia: lusaka
zimbabwe: harare
south africa: johannesburg=joburg, cape town, durban, pretoria
mauritius: port louis
singapore: singapore
malaysia: kuala lumpur=kl, penang=george town, johor bahru, cyberjaya
indonesia: jakarta, bandung, surabaya, yogyakarta=jogja=jogjakarta, medan, semarang, denpasar, batam, bali
thailand: bangkok, chiang mai, phuket
vietnam: ho chi minh city=saigon=hcmc, hanoi, da nang=danang
philippines: manila, cebu, makati, davao, quezon city
cambodia: phnom penh
myanmar=burma: yangon=rangoon
china: beijing=peking, shanghai, shenzhen, guangzhou=canton, hangzhou, chengdu
hong kong: hong kong=hongkong
taiwan: taipei, hsinchu
japan: tokyo, osaka, kyoto, yokohama, fukuoka
south korea=korea: seoul, busan
australia: sydney, melbourne, brisbane, perth, adelaide, canberra
new zealand: auckland, wellington, christchurch
united kingdom=uk=britain=great britain=england=scotland=wales: london, manchester, birmingham, leeds, edinburgh,
 glasgow, bristol, cambridge, oxford, liverpool, sheffield, belfast, cardiff, plymouth
ireland: dublin, galway, limerick
germany=deutschland: berlin, munich=münchen, hamburg, frankfurt, cologne=köln, stuttgart, düsseldorf=duesseldorf,
 leipzig, dresden, potsdam, rostock, hannover=hanover
france: paris, lyon, marseille, toulouse, bordeaux, lille, nantes
spain: madrid, barcelona, valencia, seville=sevilla, malaga
portugal: lisbon=lisboa, porto
italy: milan=milano, rome=roma, turin=torino, bologna, florence=firenze, naples=napoli
netherlands=holland: amsterdam, rotterdam, the hague=den haag, utrecht, eindhoven, delft
belgium: brussels=bruxelles, antwerp, ghent
switzerland: zurich=zürich, geneva, basel, lausanne, bern
austria: vienna=wien, graz
luxembourg: luxembourg city
denmark: copenhagen=københavn, aarhus, aalborg
sweden: stockholm, gothenburg=göteborg, malmö=malmo
norway: oslo, bergen
finland: helsinki, espoo, tampere
iceland: reykjavik
estonia: tallinn
latvia: riga
lithuania: vilnius
poland: warsaw=warszawa, kraków=cracow, wroclaw=wrocław, gdansk=gdańsk
czech republic=czechia: prague=praha, brno
hungary: budapest
romania: bucharest, cluj=cluj-napoca
bulgaria: sofia
greece: athens, thessaloniki
serbia: belgrade
croatia: zagreb
ukraine: kyiv=kiev, lviv, kharkiv
russia: moscow, saint petersburg=st petersburg
united states=usa=united states of america=america: new york=nyc=new york city, san francisco=sf, los angeles,
 seattle, boston, chicago, austin, san jose, san diego, denver, atlanta, miami, dallas, houston, philadelphia,
 pittsburgh, portland, washington=washington dc, detroit, minneapolis, raleigh, palo alto, mountain view, sunnyvale,
 oakland, berkeley, brooklyn, salt lake city, las vegas
canada: toronto, vancouver, montreal=montréal, ottawa, calgary, edmonton, waterloo, winnipeg, halifax, sudbury, quebec
 city
mexico: mexico city=cdmx, guadalajara, monterrey
brazil=brasil: são paulo, rio de janeiro=rio, belo horizonte, campinas, curitiba, porto alegre, recife,
 brasilia=brasília, santos, ribeirão preto
argentina: buenos aires
chile: santiago
colombia: bogotá, medellín
peru: lima
"""

REGIONS = """
delhi ncr=ncr=national capital region: delhi, gurugram, noida, greater noida, ghaziabad, faridabad
karnataka: bengaluru, mysuru, mangaluru, hubballi, belagavi, udupi, dharwad
kerala: kochi, thiruvananthapuram, kozhikode, thrissur, kollam, kottayam, alappuzha, kannur, palakkad, idukki
tamil nadu=tamilnadu: chennai, coimbatore, madurai, tiruchirappalli, salem, tiruppur, vellore, hosur, thoothukudi,
 tirunelveli, erode
telangana: hyderabad, warangal
andhra pradesh=andhra: visakhapatnam, vijayawada, guntur, tirupati, nellore
maharashtra: mumbai, navi mumbai, thane, pune, nagpur, nashik, aurangabad, kolhapur, solapur, bhiwandi, lonavla
gujarat: ahmedabad, gandhinagar, surat, vadodara, rajkot, sanand, bhuj, gandhidham, mundra
rajasthan: jaipur, jodhpur, udaipur, kota, ajmer
punjab: ludhiana, amritsar, jalandhar, patiala, bathinda, mohali, chandigarh
haryana: gurugram, faridabad, panchkula
uttar pradesh: lucknow, kanpur, noida, greater noida, ghaziabad, agra, varanasi, prayagraj, meerut, mathura
madhya pradesh: indore, bhopal, gwalior, jabalpur, ujjain
west bengal: kolkata, howrah, siliguri, darjeeling
odisha=orissa: bhubaneswar, cuttack, rourkela
bihar: patna
jharkhand: ranchi, jamshedpur, dhanbad
assam: guwahati
goa: panaji
south india: bengaluru, mysuru, chennai, coimbatore, madurai, hyderabad, visakhapatnam, vijayawada, kochi,
 thiruvananthapuram, kozhikode
north india: delhi, gurugram, noida, ghaziabad, faridabad, chandigarh, jaipur, lucknow, ludhiana, amritsar
bay area=silicon valley: san francisco, san jose, palo alto, mountain view, sunnyvale, oakland, berkeley
california: san francisco, los angeles, san jose, san diego, palo alto, mountain view, sunnyvale, oakland, berkeley
south asia: india, pakistan, bangladesh, sri lanka, nepal, bhutan
southeast asia=south east asia=sea: singapore, malaysia, indonesia, thailand, vietnam, philippines, cambodia
middle east=gulf=gcc: united arab emirates, saudi arabia, qatar, kuwait, bahrain, oman
east africa: kenya, uganda, tanzania, rwanda, ethiopia
west africa: nigeria, ghana, senegal, ivory coast
africa: kenya, uganda, tanzania, rwanda, ethiopia, nigeria, ghana, senegal, south africa, zambia, zimbabwe, egypt,
 morocco
latin america=latam: brazil, mexico, argentina, chile, colombia, peru
europe: united kingdom, ireland, germany, france, spain, portugal, italy, netherlands, belgium, switzerland, austria,
 denmark, sweden, norway, finland, estonia, poland, czech republic, hungary, romania, greece, ukraine
"""
