// Lines of a small shop that does not exist, for somebody who wants to look around first.

/** demoLines makes n lines of the last hour, with a minute in which one service fails. @param {number} n */
export function demoLines(n) {
  let seed = 20_261_122;
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) / 2 ** 24;
  };
  const pick = (/** @type {any[]} */ list) => list[Math.floor(random() * list.length)];
  const now = BigInt(Date.now()) * 1_000_000n;
  const hour = 3500n * 1_000_000_000n;
  const lines = [];
  for (let i = 0; i < n; i++) {
    const at = (BigInt(i) * hour) / BigInt(n);
    const bad = i > n * 0.7 && i < n * 0.73;
    const service = bad && random() < 0.6 ? 'cart' : pick(['web', 'web', 'cart', 'pay', 'stock']);
    const host = `${service}-${1 + Math.floor(random() * 4)}`;
    const ms = Math.round((20 + random() * 180) * (bad ? 20 : 1));
    const r = random();
    const failing = bad && service === 'cart' && r < 0.7;
    const level = failing || r < 0.01 ? 'error' : r < 0.05 ? 'warn' : r < 0.25 ? 'debug' : 'info';
    const status = level === 'error' ? 503 : level === 'warn' ? 404 : 200;
    const path = pick(['/', '/cart', '/cart/items', '/pay', '/stock/' + Math.floor(random() * 900)]);
    const message = failing
      ? `timeout after ${ms} ms calling stock-${1 +
        Math.floor(random() * 3)}, order ${Math.floor(random() * 90_000)} not reserved`
      : level === 'error' ? `connection reset by peer while reading order ${Math.floor(random() * 90_000)}`
        : level === 'warn' ? `slow answer from stock: ${ms} ms` : level === 'debug'
          ? `cache hit for user ${Math.floor(random() * 5000)}` : `GET ${path} ${status} in ${ms} ms`;
    const trace = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, '0'))
      .join('');
    lines.push(`{"ts":${now - hour + at},"level":"${level}","service":"${service}","host":"${host}",` +
      `"status":${status},"duration_ms":${ms},"path":"${path}","trace_id":"${trace}",` +
      `"message":${JSON.stringify(message)}}`);
  }
  return lines.join('\n') + '\n';
}
