"""The configuration of a pgAdmin that lives as long as its test: it reads a folder from the environment."""
import os

SERVER_MODE = True
DATA_DIR = os.environ["PGADMIN_TEST_DIR"]
SQLITE_PATH = os.path.join(DATA_DIR, "pgadmin4.db")
LOG_FILE = os.path.join(DATA_DIR, "pgadmin4.log")
SESSION_DB_PATH = os.path.join(DATA_DIR, "sessions")
STORAGE_DIR = os.path.join(DATA_DIR, "storage")
AZURE_CREDENTIAL_CACHE_DIR = os.path.join(DATA_DIR, "azure")
KERBEROS_CCACHE_DIR = os.path.join(DATA_DIR, "kerberos")
DEFAULT_SERVER = "127.0.0.1"
DEFAULT_SERVER_PORT = int(os.environ["PGADMIN_TEST_PORT"])
UPGRADE_CHECK_ENABLED = False
MASTER_PASSWORD_REQUIRED = False
WTF_CSRF_CHECK_DEFAULT = False
WTF_CSRF_ENABLED = False
CHECK_EMAIL_DELIVERABILITY = False
CONSOLE_LOG_LEVEL = 30
