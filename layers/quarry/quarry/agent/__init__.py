"""What models and programs may ask of every source alike."""
