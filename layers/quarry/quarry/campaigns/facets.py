"""What campaigns can be filtered, counted and grouped by."""

from __future__ import annotations

from quarry.core.retrieval.facets import Facet, SearchTable

CAMPAIGNS = SearchTable(
    "campaigns",
    nouns=("campaign", "ad", "advert", "advertisement", "commercial", "promotion", "creative", "spot"),
    date="capture_date",
    facets=(
        Facet(
            "company", "name", "company", "company", "companies",
            words=("advertiser", "firm", "business"), leads=("by", "from", "of", "for"), wording="by {}",
        ),
        Facet(
            "brand", "name", "brand", "brand", "brands",
            words=("product", "label"), leads=("by", "for", "from", "of"), wording="for {}",
        ),
        Facet(
            "channel", "value", "channel", "channel", "channels",
            words=("medium", "media", "format"), leads=("on", "by", "via", "through", "in"), wording="on {}",
        ),
        Facet(
            "value_prop", "array", "key_value_props", "value proposition", "value propositions",
            words=("value prop", "selling point", "promise", "benefit", "key value proposition"),
            leads=("promising", "offering", "about"), wording="promising {}",
        ),
        Facet(
            "sentiment", "value", "imagery_sentiment", "sentiment", "sentiments",
            words=("mood", "tone", "feeling", "emotion", "imagery sentiment"),
        ),
        Facet(
            "visual_style", "value", "imagery_visual_style", "visual style", "visual styles",
            words=("style", "look", "imagery", "imagery style"), leads=("with", "using"), wording="with {}",
        ),
        Facet(
            "offer", "text", "offer", "offer", "offers",
            words=("deal", "discount", "incentive"), leads=("with", "offering"), wording="offering {}",
        ),
        Facet(
            "capture_date", "date", "capture_date", "capture date", "capture dates",
            words=("date", "captured", "run", "ran", "seen", "aired", "shown"), wording="captured {}",
        ),
    ),
)  # fmt: skip

SEARCHED = (CAMPAIGNS,)
