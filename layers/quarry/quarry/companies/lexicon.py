"""What people call the things that companies are filed under, how they stand and how they are funded: everyday words, each with
the value that it stands for where the data has it. Pure data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Synonyms = tuple[tuple[str, str], ...]
"""Words, each with the value that they stand for."""

SECTOR_NAMES: dict[str, str] = {
    "Fintech": "financial technology, financial services, finance, banking",
    "Insurance": "insurtech, insurer",
    "Healthcare": "health, health care, healthtech, health tech, medtech, medical, digital health",
    "Biotech": "biotechnology, life sciences, bio",
    "Climate & Energy": "climate, climate tech, climatetech, cleantech, clean tech, energy, renewable energy, renewables",
    "Food & Agriculture": "agtech, ag tech, agritech, agriculture, agricultural, farming, farmer, foodtech, food tech, food",
    "Logistics & Supply Chain": "logistics, supply chain, freight, shipping",
    "Mobility & Transport": "mobility, transport, transportation",
    "Commerce & Retail": "retail, retailer, retail tech, commerce, ecommerce, e-commerce",
    "Education": "edtech, ed tech, educational",
    "Work & Human Resources": "human resources, hr, hr tech, hrtech, future of work",
    "Developer & Data Infrastructure": "developer tools, devtools, dev tools, data infrastructure, developer infrastructure, "
    "developer, software engineer, software developer, programmer",
    "Security": "cybersecurity, cyber security, infosec, information security",
    "Real Estate & Construction": "real estate, proptech, property, construction, contech",
    "Media & Entertainment": "media, entertainment",
}

CATEGORY_NAMES: dict[str, str] = {
    "Lending": "loan, lender, credit line, borrowing, borrower",
    "Personal Banking": "personal finance, neobank, consumer banking, bank account, joint account, budgeting",
    "Business Banking": "business account, business bank",
    "Wealth Management": "investing, robo-advisor, wealth, investment, retirement savings, pension",
    "Accounting & Tax": "accounting, bookkeeping, tax, tax filing",
    "Fraud & Compliance": "fraud, anti-money laundering, aml, kyc, scam, money laundering",
    "Payroll Finance": "earned wage access, pay advance, wage advance, on-demand pay, salary advance",
    "Trade Finance": "export finance, invoice finance",
    "Embedded Finance": "banking as a service, baas",
    "Crypto Infrastructure": "crypto, cryptocurrency, blockchain, web3",
    "Auto Insurance": "car insurance, motor insurance, vehicle insurance",
    "Home Insurance": "homeowners insurance, house insurance",
    "Health Insurance": "medical insurance",
    "Small Business Insurance": "business insurance, commercial insurance",
    "Crop Insurance": "farm insurance, agricultural insurance",
    "Pet Insurance": "dog insurance, cat insurance",
    "Claims Automation": "insurance claims, claims processing",
    "Underwriting Data": "underwriting",
    "Telemedicine": "telehealth, online doctor, virtual care, video consultation, remote doctor",
    "Mental Health": "therapy, psychotherapy, counselling, counseling, therapist, psychologist, anxiety, depression",
    "Medical Imaging": "radiology, ultrasound, x-ray, mri",
    "Hospital Operations": "hospital",
    "Remote Monitoring": "remote patient monitoring",
    "Chronic Care": "chronic disease, chronic condition, diabetes",
    "Women's Health": "femtech, menopause, fertility, maternity, pregnancy, midwife",
    "Elder Care": "eldercare, elderly care, senior care, care home, home care, ageing parents, aging parents, elderly, "
    "elderly people, elderly parents, older people, older adults, old people, seniors, nursing home",
    "Pharmacy": "prescription, medication, pill",
    "Clinical Documentation": "clinical notes, medical scribe, ai scribe, scribe, medical notes, medical records",
    "Drug Discovery": "drug development",
    "Lab Automation": "laboratory automation, lab robot",
    "Synthetic Biology": "synbio",
    "Clinical Trials": "clinical trial, decentralised trials, decentralized trials",
    "Genomics": "dna sequencing, sequencing, genetic testing",
    "Biomanufacturing": "bioprocessing, precision fermentation",
    "Microbiome": "gut bacteria",
    "Longevity": "anti-ageing, anti-aging",
    "Solar": "solar power, solar panel, photovoltaic",
    "Wind": "wind turbine, wind power, wind farm",
    "Battery Storage": "battery, energy storage",
    "Grid Software": "smart grid, power grid, electricity grid",
    "Carbon Accounting": "carbon footprint, emissions reporting, emissions accounting",
    "Carbon Removal": "carbon capture, carbon credit, carbon offset",
    "Heat Pumps": "heat pump",
    "EV Charging": "electric vehicle charging, ev charger, charging station, car charging",
    "Energy Efficiency": "energy saving, energy savings",
    "Geothermal": "geothermal energy, ground heat",
    "Waste & Recycling": "recycling, waste management, waste, rubbish, garbage, trash, landfill",
    "Precision Farming": "precision agriculture",
    "Vertical Farming": "indoor farming",
    "Alternative Protein": "plant-based, plant based meat, cultivated meat, meat alternative",
    "Farm Marketplaces": "farm marketplace",
    "Livestock Technology": "livestock, cattle, dairy, cow, pig",
    "Aquaculture": "fish farming, salmon farming, fish farm",
    "Restaurant Technology": "restaurant",
    "Meal Delivery": "meal kit, food delivery",
    "Agricultural Robotics": "farm robot, weeding robot",
    "Food Waste": "surplus food, unsold food, leftover food, wasted food",
    "Freight Brokerage": "freight broker, freight matching, trucking",
    "Last-Mile Delivery": "last mile, parcel delivery, courier, parcel",
    "Warehouse Automation": "warehouse robot, warehouse, warehousing",
    "Fleet Management": "fleet",
    "Cold Chain": "refrigerated transport, cold storage",
    "Customs & Trade Compliance": "customs, import duty",
    "Supply Chain Visibility": "shipment tracking, traceability",
    "Returns Management": "returns, returned parcels",
    "Maritime Shipping": "maritime, container shipping, ocean freight",
    "Inventory Planning": "inventory, demand planning",
    "Drone Delivery": "drone, drones",
    "Electric Vehicles": "electric car, electric truck",
    "Micromobility": "e-scooter, scooter, bike sharing, bike share, e-bike, bicycle, bike",
    "Ride Sharing": "ride hailing, carpooling, ridesharing, carpool",
    "Autonomous Driving": "self-driving, self driving, driverless, autonomous vehicle, robotaxi",
    "Public Transit": "public transport, bus, mass transit, tram, transit",
    "Aviation": "airline, aircraft, airport",
    "Rail": "railway, railroad, train operator",
    "Vehicle Marketplaces": "used car, car marketplace",
    "Vehicle Maintenance": "car repair, garage",
    "Accessible Transport": "wheelchair transport, disabled passengers",
    "Online Marketplaces": "online marketplace",
    "Direct-to-Consumer Brands": "consumer brand, dtc brand, d2c brand",
    "Resale & Second-Hand": "resale, second-hand, second hand, secondhand, thrift",
    "Pricing & Promotions": "dynamic pricing, price optimisation, price optimization",
    "Loyalty Programs": "loyalty, loyalty programme, loyalty card",
    "Social Commerce": "live shopping, livestream shopping",
    "Grocery": "groceries, supermarket",
    "Fashion": "clothing, clothes, apparel, garment",
    "Tutoring": "tutor, homework help",
    "Language Learning": "language course, learn a language",
    "Coding Schools": "coding school, coding bootcamp, learn to code",
    "Early Childhood": "preschool, nursery, kindergarten, childcare, daycare, toddler",
    "Corporate Training": "employee training, workplace training",
    "Exam Preparation": "exam prep, test prep",
    "Student Financing": "student loan, tuition",
    "Special Education": "special needs, dyslexia",
    "Career Guidance": "career advice, career coaching",
    "Recruiting": "recruitment, hiring, applicant tracking, recruiter, job board, staffing",
    "Benefits": "employee benefits",
    "Shift Scheduling": "rota, rotas, staff scheduling, shift planning",
    "Freelance Management": "freelancer, contractor management",
    "Workplace Safety": "occupational safety, workplace accident, safety at work",
    "Databases": "database",
    "Observability": "application monitoring, tracing, log management",
    "API Management": "api gateway",
    "Continuous Integration": "ci/cd, build pipeline",
    "Data Pipelines": "etl, data pipeline",
    "Machine Learning Operations": "mlops, ml ops, model deployment",
    "Cloud Cost": "cloud spend, cloud costs, finops, cloud bill",
    "Testing": "software testing, test automation",
    "Search": "search engine, search infrastructure, enterprise search",
    "Data Governance": "data catalog, data lineage",
    "Identity & Access": "identity management, single sign-on, sso, authentication",
    "Privacy": "data privacy, gdpr",
    "Security Awareness": "phishing training, phishing simulation",
    "Compliance Automation": "soc 2, soc2, iso 27001, security compliance",
    "Industrial Security": "ot security, scada",
    "Supply Chain Security": "software supply chain",
    "Property Management": "landlord, property manager, tenant",
    "Home Buying": "house buying, buy a home, house hunting",
    "Rental Marketplaces": "apartment rental, flat rental",
    "Construction Management": "building site, construction site",
    "Modular Building": "prefab, modular homes, modular housing",
    "Building Operations": "facility management, hvac",
    "Mortgages": "home loan",
    "Coworking": "shared office, flexible office",
    "Land & Permitting": "planning permission, building permit, zoning",
    "Home Renovation": "renovation, remodelling, remodeling",
    "Hospitality & Short Stays": "hotel, short-term rental, holiday rental, vacation rental",
    "Gaming": "video game, game studio, game developer",
    "Music": "songwriter, musician",
    "Payments": "payment processing, card payments",
    "Credit Scoring": "credit score, credit history",
    "Vaccines": "vaccine, vaccination, immunisation, immunization",
    "Remote Work": "remote team, distributed team, working from home, home office",
    "Employee Engagement": "employee feedback, employee survey",
    "Performance Management": "performance review",
    "Compensation": "salary benchmark, pay transparency, pay gap",
    "Endpoint Security": "antivirus, malware",
    "Email Security": "phishing email, spam filter",
    "Incident Response": "data breach, ransomware",
    "Live Events": "concert, festival",
    "Video Production": "video editing, filmmaking",
    "Advertising": "advert, advertiser",
    "Podcasts & Audio": "podcast, podcasting, audiobook",
    "Creator Tools": "content creator, creator economy",
    "Publishing": "publisher, book publishing",
    "Sports": "sport, athlete",
    "Virtual Worlds": "metaverse, virtual reality, vr",
    "News": "news site, news media, journalism, newsroom, local news",
    "Ticketing": "event tickets, ticket resale, concert ticket, ticket tout",
}

MODEL_NAMES: dict[str, str] = {
    "SaaS": "software as a service, software",
    "Usage-Based": "pay as you go, pay per use, usage based",
    "Marketplace": "two-sided marketplace",
    "Transaction Fees": "commission based, take rate",
    "Hardware": "device maker",
    "Hardware plus Software": "hardware, hardware and software",
    "Direct-to-Consumer": "direct to consumer, dtc, d2c",
    "Professional Services": "consultancy, consulting",
    "Franchise": "franchising",
    "Data as a Service": "data provider",
    "Open Core": "open source, open-source",
    "Leasing": "lease, hire instead of buying",
    "Outcome-Based": "pay for results, outcome based",
}

STATUS_NAMES: dict[str, str] = {
    "startup": "still running, still active, still going, still independent, still private, still in business, still operating, "
    "active, independent, operating, alive",
    "acquired": "bought, got bought, was bought, were bought, been bought, bought out, bought up, taken over, got acquired, "
    "exited, sold to another company",
    "public": "publicly traded, publicly listed, went public, gone public, ipo, on the stock exchange, on the stock market, "
    "stock listed",
    "closed": "shut down, shut, shuttered, closed down, out of business, went out of business, gone out of business, went bust, "
    "gone bust, went under, gone under, went bankrupt, bankrupt, defunct, wound up, ceased trading, inactive, dead, failed, "
    "no longer active, no longer operating, no longer in business",
}

STAGE_NAMES: dict[str, str] = {
    "bootstrapped": "bootstrapped, self funded, without funding, without investors, without outside funding, unfunded, "
    "not funded, not yet funded, never raised money, never raised funding, did not raise money, did not raise funding, "
    "have not raised money, have not raised any money, raised no money, raised no funding, raised no capital, raised nothing, "
    "have raised nothing, has raised nothing, that raised nothing, which raised nothing, who raised nothing",
    "pre_seed": "pre seed, preseed, pre seed stage",
    "seed": "seed stage, seed funded, seed round, seed funding",
    "series_a": "series a",
    "series_b": "series b",
    "series_c": "series c",
    "growth": "growth stage, growth round, growth funding",
}


def synonyms(names: Mapping[str, str]) -> Synonyms:
    """Each word with the value that it stands for."""
    return tuple(_each(names))


def _each(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for value, said in names.items():
        for phrase in said.split(","):
            yield phrase.strip(), value
