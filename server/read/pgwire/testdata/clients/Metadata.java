import java.sql.*;
import java.util.*;

/** Asks a server for its metadata, as tools that speak JDBC do, and for rows. */
public class Metadata {
    interface Question { ResultSet ask() throws SQLException; }

    /** Prints some columns of at most ten rows. */
    static void show(String what, Question q, String... columns) throws SQLException {
        try (ResultSet r = q.ask()) {
            List<String> rows = new ArrayList<>();
            while (r.next()) {
                StringJoiner row = new StringJoiner(" ");
                for (String c : columns) row.add(String.valueOf(r.getString(c)));
                if (rows.size() < 10) rows.add(row.toString());
            }
            System.out.println(what + " " + rows);
        }
    }

    public static void main(String[] args) throws Exception {
        String url = "jdbc:postgresql://" + System.getenv("PGADDR") + "/public?sslmode=disable&prepareThreshold=3&binaryTransfer=true";
        try (Connection c = DriverManager.getConnection(url, "ann", "")) {
            DatabaseMetaData d = c.getMetaData();
            System.out.println("session " + c.getCatalog() + " " + c.getSchema() + " " + d.getUserName());
            show("schemas", () -> d.getSchemas(), "TABLE_SCHEM");
            show("tables", () -> d.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE", "REMARKS");
            show("columns", () -> d.getColumns(null, "public", "logs", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "NULLABLE", "COLUMN_DEF");
            show("decimal", () -> d.getColumns(null, "public", "logs", "dec"), "COLUMN_SIZE", "DECIMAL_DIGITS");
            show("keys", () -> d.getPrimaryKeys(null, "public", "logs"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
            show("keys in append mode", () -> d.getPrimaryKeys(null, "public", "appended"), "COLUMN_NAME");
            show("indexes", () -> d.getIndexInfo(null, "public", "logs", false, true), "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME");
            show("unique", () -> d.getIndexInfo(null, "public", "appended", true, true), "INDEX_NAME");
            show("best", () -> d.getBestRowIdentifier(null, "public", "logs", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME");
            show("imported", () -> d.getImportedKeys(null, "public", "logs"), "FKTABLE_NAME");
            show("exported", () -> d.getExportedKeys(null, "public", "logs"), "FKTABLE_NAME");
            show("procedures", () -> d.getProcedures(null, null, "%"), "PROCEDURE_NAME");
            show("functions", () -> d.getFunctions(null, null, "%"), "FUNCTION_NAME");
            show("rights", () -> d.getTablePrivileges(null, "public", "logs"), "PRIVILEGE");
            Set<String> types = new TreeSet<>();
            try (ResultSet r = d.getTypeInfo()) {
                while (r.next()) types.add(r.getString("TYPE_NAME"));
            }
            System.out.println("types " + types.containsAll(List.of("bool", "int8", "float8", "text", "timestamptz", "numeric", "json", "_text")));
            System.out.println("keywords " + d.getSQLKeywords().contains("qualify") + " " + d.getCatalogs().next());
            try (PreparedStatement p = c.prepareStatement("SELECT count(*), max(status) FROM logs WHERE ts >= ? AND host = ?")) {
                for (int i = 0; i < 6; i++) { // from the third on it is a prepared statement with binary results
                    p.setTimestamp(1, new Timestamp(0));
                    p.setString(2, "h1");
                    try (ResultSet r = p.executeQuery()) {
                        r.next();
                        if (i % 5 == 0) System.out.println("prepared " + r.getLong("count") + " " + r.getInt("max"));
                    }
                }
            }
            try (PreparedStatement p = c.prepareStatement("SELECT host FROM logs WHERE status = ANY(?) ORDER BY ts")) {
                p.setArray(1, c.createArrayOf("int4", new Object[] {200}));
                show("list", p::executeQuery, "host");
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO other.u VALUES (?, ?)")) {
                for (int i = 0; i < 3; i++) {
                    p.setTimestamp(1, new Timestamp(i));
                    p.setDouble(2, i);
                    p.addBatch();
                }
                System.out.println("batch " + p.executeBatch().length);
            }
            c.setAutoCommit(false);
            try (Statement s = c.createStatement()) {
                s.setFetchSize(7);
                int n = 0;
                try (ResultSet r = s.executeQuery("SELECT number FROM numbers")) {
                    while (r.next()) n++;
                }
                System.out.println("fetched " + n);
                try (ResultSet r = s.executeQuery("SELECT dec, raw, ARRAY[1, 2] AS parts FROM logs WHERE dec IS NOT NULL")) {
                    r.next();
                    System.out.println("row " + r.getBigDecimal(1) + " " + Arrays.toString(r.getBytes(2)) + " " + r.getArray(3));
                }
            }
            c.commit();
        }
    }
}
