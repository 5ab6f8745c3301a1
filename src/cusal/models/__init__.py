"""What has fit and predict_proba."""
