// Asks a server with node-postgres.
const { Client, Pool } = require("pg");

const [host, port] = process.env.PGADDR.split(":");
const where = { host, port: Number(port), user: "ann", database: "public" };

(async () => {
  const c = new Client(where);
  await c.connect();
  let r = await c.query("SELECT count(*), max(status), current_database() FROM logs");
  console.log("row", JSON.stringify(r.rows[0]));
  r = await c.query("SELECT ts, status, took, ok, raw, j, ARRAY[1, 2] AS parts FROM logs ORDER BY ts LIMIT 1");
  console.log("types", JSON.stringify(r.rows[0]));
  r = await c.query("SELECT host FROM logs WHERE ts >= $1 AND status = ANY($2) ORDER BY ts", [new Date(0), [200]]);
  console.log("parameters", r.rows.map((x) => x.host).join());
  for (let i = 0; i < 3; i++) {
    r = await c.query({ name: "named", text: "SELECT $1::int + 1 AS n", values: [i], rowMode: "array" });
  }
  console.log("named", r.rows[0][0]);
  await c.query("SELECT x FROM logs").catch((e) => console.log("error", e.code, e.position));
  await c.end();
  const pool = new Pool({ ...where, max: 4 });
  const all = await Promise.all([...Array(20).keys()].map((i) => pool.query("SELECT $1::int AS i", [i])));
  console.log("pool", all.reduce((sum, x) => sum + x.rows[0].i, 0));
  await pool.end();
})();
