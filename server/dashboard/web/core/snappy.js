// A remote write request of one sample, as bytes: for a command that can be pasted.

/** @param {number} n */
function varint(n) {
  const out = [];
  for (let left = BigInt(n); ;) {
    const low = Number(left & 127n);
    left >>= 7n;
    if (left === 0n) return [...out, low];
    out.push(low | 128);
  }
}

/** @param {number} field @param {number[]} body */
const message = (field, body) => [(field << 3) | 2, ...varint(body.length), ...body];

/** @param {number} field @param {string} text */
const text = (field, text) => message(field, [...new TextEncoder().encode(text)]);

/** double writes a field of eight bytes. @param {number} field @param {number} x */
const double = (field, x) => [(field << 3) | 1, ...new Uint8Array(new Float64Array([x]).buffer)];

/**
 * remoteWrite is a request with one sample, packed as the protocol wants it, in base64.
 * @param {Record<string, string>} labels @param {number} value @param {number} ms
 */
export function remoteWrite(labels, value, ms) {
  const series = Object.entries(labels).sort().flatMap(([k, v]) => message(1, [...text(1, k), ...text(2, v)]));
  const sample = message(2, [...double(1, value), 2 << 3, ...varint(ms)]);
  const plain = message(1, [...series, ...sample]);
  // one literal of up to 256 bytes
  const literal = plain.length <= 60 ? [(plain.length - 1) << 2] : [60 << 2, plain.length - 1];
  return btoa(String.fromCharCode(...varint(plain.length), ...literal, ...plain));
}
