"""The configuration of a Superset that lives as long as its test."""
import os

SECRET_KEY = os.urandom(32).hex() if "SUPERSET_TEST_KEY" not in os.environ else os.environ["SUPERSET_TEST_KEY"]
SQLALCHEMY_DATABASE_URI = "sqlite:///" + os.environ["SUPERSET_TEST_DIR"] + "/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
