//! Comma-separated values, by RFC 4180.

/** Cuts a text into records of fields, with the line at which each begins. */
export function* records(text: string): Generator<{ line: number; fields: string[] }> {
  let fields: string[] = [];
  let field = '';
  let isQuoted = false;
  let line = 1;
  let begun = 1;
  for (let at = 0; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (one === '\n') line += 1;
    if (isQuoted) {
      if (one !== '"') field += one;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (one === '"' && field === '') {
      isQuoted = true;
    } else if (one === ',') {
      fields.push(field);
      field = '';
    } else if (one === '\n') {
      fields.push(field.replace(/\r$/, ''));
      if (fields.length > 1 || fields[0] !== '') yield { line: begun, fields };
      fields = [];
      field = '';
      begun = line;
    } else {
      field += one;
    }
  }
  if (field !== '' || fields.length > 0) yield { line: begun, fields: [...fields, field] };
}

/** Returns a field of CSV. What a spreadsheet would take for a formula is not changed: the file is data. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the JSON of a field's text: a number, a truth value, null, an object or an array if it is one, else a string. */
export function jsonOfField(text: string): string {
  const plain = text.trim();
  if (/^(-?\d|true$|false$|null$|[[{])/.test(plain)) {
    try {
      JSON.parse(plain);
      return plain;
    } catch {
      // It only began like one.
    }
  }
  return JSON.stringify(text);
}
