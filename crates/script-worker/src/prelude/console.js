// How console.log writes: a text with places for values, and the values that found no place after it.
function format(values) {
  'use strict';

  function shown(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return String(value);
    if (value instanceof Error) return `${value}`;
    if (typeof value !== 'object' || value === null) return `${value}`;
    try {
      return JSON.stringify(value);
    } catch (error) {
      return '[object]';
    }
  }

  function filled(place, value) {
    switch (place) {
      case 'd': return `${Number(value)}`;
      case 'i': return `${Math.trunc(Number(value))}`;
      case 'f': return `${parseFloat(value)}`;
      case 'j':
      case 'o': return typeof value === 'string' ? JSON.stringify(value) : shown(value);
      default: return shown(value);
    }
  }

  let used = 0, text = '';
  if (typeof values[0] === 'string') {
    const pattern = values[0];
    used = 1;
    for (let at = 0; at < pattern.length; at++) {
      const place = pattern[at] === '%' ? pattern[at + 1] : undefined;
      if (place === '%') {
        text += '%';
        at++;
      } else if (place !== undefined && 'sdifjo'.includes(place) && used < values.length) {
        text += filled(place, values[used++]);
        at++;
      } else {
        text += pattern[at];
      }
    }
  }
  for (; used < values.length; used++) text += (used === 0 ? '' : ' ') + shown(values[used]);
  return text;
}
