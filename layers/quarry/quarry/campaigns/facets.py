"""What campaigns can be filtered, counted and grouped by."""

from __future__ import annotations

from quarry.retrieval.facets import Facet, SearchTable

RECENT_DAYS = 90
"""So many days before the latest capture are recent: campaigns are collected, not live."""

CAMPAIGNS = SearchTable(
    "campaigns",
    nouns=("campaign", "ad", "advert", "advertisement", "commercial", "promotion", "creative", "spot"),
    date="capture_date",
    facets=(
        Facet(
            "company", "name", "company", "company", "companies",
            words=("advertiser", "firm", "business"), wording="by {}",
        ),
        Facet(
            "brand", "name", "brand", "brand", "brands",
            words=("product", "label"), wording="for {}",
        ),
        Facet(
            "channel", "value", "channel", "channel", "channels",
            words=("medium", "media", "format"), wording="on {}",
            synonyms=(
                ("newsletter", "Email"), ("e-mail", "Email"), ("inbox", "Email"), ("mailer", "Direct Mail"),
                ("letter", "Direct Mail"), ("postcard", "Direct Mail"), ("by post", "Direct Mail"), ("television", "TV"),
                ("television", "Television"), ("TV", "Television"), ("social media", "Social"), ("banner", "Display"),
                ("text message", "SMS"), ("texting", "SMS"), ("billboard", "Out of Home"), ("outdoor", "Out of Home"),
                ("poster", "Out of Home"), ("billboard", "Outdoor"), ("paper", "Print"), ("newspaper", "Print"),
            ),
        ),
        Facet(
            "value_prop", "array", "key_value_props", "value proposition", "value propositions",
            words=("value prop", "selling point", "promise", "benefit", "key value proposition"), wording="promising {}",
        ),
        Facet(
            "sentiment", "value", "imagery_sentiment", "sentiment", "sentiments",
            words=("mood", "tone", "feeling", "emotion", "imagery sentiment"), wording="with the sentiment {}",
        ),
        Facet(
            "visual_style", "value", "imagery_visual_style", "visual style", "visual styles",
            words=("style", "look", "imagery", "imagery style"), wording="in the style {}",
            synonyms=(
                ("illustrated", "Illustration"), ("drawn", "Illustration"), ("animated", "Animation"), ("cartoon", "Animation"),
            ),
        ),
        Facet(
            "offer", "text", "offer", "offer", "offers",
            words=("deal", "discount", "incentive"), wording="offering {}",
        ),
        Facet(
            "capture_date", "date", "capture_date", "capture date", "capture dates",
            words=("date", "captured", "aired", "launched", "published", "broadcast"), wording="captured {}",
        ),
        Facet("copy", "words", "text_search", "copy", "copies", words=("text", "wording"), wording="saying “{}”"),
    ),
)  # fmt: skip

SEARCHED = (CAMPAIGNS,)
