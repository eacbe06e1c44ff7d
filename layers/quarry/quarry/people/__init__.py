"""People: found by their experience, with hard constraints, relaxation tiers, reasons, and contact details that are paid for."""
