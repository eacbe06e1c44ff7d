"""What the companies of the sample are filed under: 15 sectors of 12 categories each, and 18 business models. Other data
has its own.
"""

from __future__ import annotations

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Fintech": (
        "Payments", "Lending", "Personal Banking", "Business Banking",
        "Wealth Management", "Accounting & Tax", "Fraud & Compliance", "Payroll Finance",
        "Trade Finance", "Embedded Finance", "Crypto Infrastructure", "Credit Scoring",
    ),
    "Insurance": (
        "Auto Insurance", "Home Insurance", "Health Insurance", "Life Insurance",
        "Small Business Insurance", "Cyber Insurance", "Crop Insurance", "Pet Insurance",
        "Travel Insurance", "Claims Automation", "Underwriting Data", "Reinsurance",
    ),
    "Healthcare": (
        "Telemedicine", "Mental Health", "Diagnostics", "Medical Imaging",
        "Hospital Operations", "Remote Monitoring", "Chronic Care", "Women's Health",
        "Elder Care", "Digital Therapeutics", "Pharmacy", "Clinical Documentation",
    ),
    "Biotech": (
        "Drug Discovery", "Gene Therapy", "Lab Automation", "Synthetic Biology",
        "Clinical Trials", "Protein Engineering", "Genomics", "Vaccines",
        "Biomanufacturing", "Microbiome", "Longevity", "Research Tools",
    ),
    "Climate & Energy": (
        "Solar", "Wind", "Battery Storage", "Grid Software",
        "Carbon Accounting", "Carbon Removal", "Heat Pumps", "EV Charging",
        "Hydrogen", "Energy Efficiency", "Geothermal", "Waste & Recycling",
    ),
    "Food & Agriculture": (
        "Precision Farming", "Vertical Farming", "Alternative Protein", "Farm Marketplaces",
        "Livestock Technology", "Aquaculture", "Food Safety", "Restaurant Technology",
        "Meal Delivery", "Soil Health", "Agricultural Robotics", "Food Waste",
    ),
    "Logistics & Supply Chain": (
        "Freight Brokerage", "Last-Mile Delivery", "Warehouse Automation", "Fleet Management",
        "Cold Chain", "Customs & Trade Compliance", "Supply Chain Visibility", "Returns Management",
        "Procurement", "Maritime Shipping", "Inventory Planning", "Drone Delivery",
    ),
    "Mobility & Transport": (
        "Electric Vehicles", "Micromobility", "Ride Sharing", "Autonomous Driving",
        "Public Transit", "Parking", "Aviation", "Rail",
        "Vehicle Marketplaces", "Vehicle Maintenance", "Traffic Analytics", "Accessible Transport",
    ),
    "Commerce & Retail": (
        "Online Marketplaces", "Store Operations", "Direct-to-Consumer Brands", "Resale & Second-Hand",
        "Product Discovery", "Pricing & Promotions", "Loyalty Programs", "Checkout",
        "Social Commerce", "Grocery", "Fashion", "Merchandising",
    ),
    "Education": (
        "Tutoring", "Language Learning", "Coding Schools", "Early Childhood",
        "School Administration", "Corporate Training", "Exam Preparation", "Student Financing",
        "Learning Management", "Special Education", "Research & Libraries", "Career Guidance",
    ),
    "Work & Human Resources": (
        "Recruiting", "Payroll", "Benefits", "Employee Engagement",
        "Shift Scheduling", "Remote Work", "Freelance Management", "Performance Management",
        "Onboarding", "Workplace Safety", "Compensation", "Workforce Analytics",
    ),
    "Developer & Data Infrastructure": (
        "Databases", "Observability", "API Management", "Continuous Integration",
        "Data Pipelines", "Machine Learning Operations", "Cloud Cost", "Developer Productivity",
        "Testing", "Search", "Edge Computing", "Data Governance",
    ),
    "Security": (
        "Identity & Access", "Endpoint Security", "Cloud Security", "Application Security",
        "Privacy", "Threat Intelligence", "Security Awareness", "Compliance Automation",
        "Email Security", "Industrial Security", "Incident Response", "Supply Chain Security",
    ),
    "Real Estate & Construction": (
        "Property Management", "Home Buying", "Rental Marketplaces", "Construction Management",
        "Modular Building", "Building Operations", "Mortgages", "Coworking",
        "Land & Permitting", "Home Renovation", "Architecture & Design", "Hospitality & Short Stays",
    ),
    "Media & Entertainment": (
        "Gaming", "Music", "Podcasts & Audio", "Video Production",
        "Live Events", "Creator Tools", "Publishing", "Sports",
        "Virtual Worlds", "Advertising", "News", "Ticketing",
    ),
}  # fmt: skip
"""The categories of each sector."""

BUSINESS_MODELS: tuple[str, ...] = (
    "SaaS", "Usage-Based", "Marketplace", "Transaction Fees", "Subscription", "Freemium",
    "Hardware", "Hardware plus Software", "Direct-to-Consumer", "Advertising", "Licensing", "Professional Services",
    "Franchise", "Data as a Service", "Open Core", "Leasing", "Lending Spread", "Outcome-Based",
)  # fmt: skip

SECTORS: tuple[str, ...] = tuple(CATEGORIES)

ALL_CATEGORIES: tuple[str, ...] = tuple(category for categories in CATEGORIES.values() for category in categories)
