import { readFile } from 'node:fs/promises';

import { FUNCTIONS, SYNONYMS } from '../src/editor/functions';
import { expect, test } from './support/fixture';

const SOURCE = new URL('../../crates/functions/src/function.rs', import.meta.url);

test('the editor knows every function of the server', async () => {
  const text = await readFile(SOURCE, 'utf8');
  const list = text.slice(text.indexOf('functions! {'), text.indexOf('// Text and vector search.'));
  const names: string[] = [];
  const synonyms: string[] = [];
  for (const [, name = '', others = ''] of list.matchAll(/^ {4}\w+ "(\w+)"((?: \| "\w+")*)/gm)) {
    names.push(name);
    synonyms.push(...(others.match(/\w+/g) ?? []));
  }
  expect(names.length).toBeGreaterThan(100);
  const known = FUNCTIONS.filter((one) => one.group !== 'Aggregate').map((one) => one.name);
  expect(known.sort()).toEqual(names.sort());
  expect([...SYNONYMS].sort()).toEqual(synonyms.sort());
});
