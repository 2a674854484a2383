//! What is wrong with a value for its type.

import type { EdmType, Property } from '../../api/table';

const RULES: Record<EdmType, { is(text: string): boolean; says: string }> = {
  String: { is: () => true, says: '' },
  Int32: { is: (text) => /^-?\d{1,10}$/.test(text) && Math.abs(Number(text) + 0.5) <= 2 ** 31, says: 'a whole number of 32 bits' },
  Int64: { is: isInt64, says: 'a whole number of 64 bits' },
  Double: {
    is: (text) => ['NaN', 'Infinity', '-Infinity'].includes(text) || (text.trim() !== '' && Number.isFinite(Number(text))),
    says: 'a number, NaN, Infinity or -Infinity',
  },
  Boolean: { is: (text) => text === 'true' || text === 'false', says: 'true or false' },
  DateTime: {
    is: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z$/.test(text),
    says: 'a time in UTC, such as 2024-02-29T12:00:00Z',
  },
  Guid: { is: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text), says: 'a GUID, such as c9da6455-213d-42c9-9a79-3e9149a57833' },
  Binary: { is: (text) => text.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(text), says: 'bytes as base64' },
};

function isInt64(text: string): boolean {
  if (!/^-?\d{1,19}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Returns what is wrong with a property among others; null if it is right. */
export function wrongWith(property: Property, all: readonly Property[]): string | null {
  const { name, type, text } = property;
  if (name.trim() === '') return 'A property needs a name.';
  if (['PartitionKey', 'RowKey', 'Timestamp'].includes(name)) return `${name} is no property of its own.`;
  if (all.some((one) => one !== property && one.name === name)) return `There is another property ${name}.`;
  return RULES[type].is(text) ? null : `${name}: this has to be ${RULES[type].says}.`;
}

/** What a property of a type begins with. */
export function firstText(type: EdmType, text: string): string {
  if (RULES[type].is(text)) return text;
  return type === 'Boolean' ? 'false' : type === 'DateTime' ? new Date().toISOString() : type === 'Guid' ? crypto.randomUUID() : '';
}
