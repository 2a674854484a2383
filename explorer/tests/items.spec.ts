//! Items: seen, written, met by others' writes, brought in and out.

import { readFile } from 'node:fs/promises';

import { expect, expectAccessible, setTheme, shoot, test, type Page } from './support/fixture';
import { hold } from './support/hold';

/** Replaces the whole text of an editor. */
async function type(page: Page, text: string): Promise<void> {
  // Until the editor is loaded a plain field stands in its place.
  await page.locator('.cm-content[aria-label="Item as JSON"]').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

test('items are loaded as one scrolls, and only their seen rows exist', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', Array.from({ length: 240 }, (_, n) => ({ id: `i-${n}`, pk: `k-${n % 5}`, n, tags: ['x'], at: { city: 'Bern' } })));
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  const status = page.getByText('more as you scroll');
  await expect(status).toContainText('100 items');
  expect(await page.getByRole('row').count()).toBeLessThan(70);
  const table = page.getByRole('grid', { name: 'Items' });
  await table.focus();
  await page.keyboard.press('End');
  await expect(page.getByText('200 items')).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.getByText('240 items, all of them')).toBeVisible();
  await expect(page.getByText(/RU in all/)).toBeVisible();
  await page.keyboard.press('Home');
  await expect(page.getByRole('region', { name: 'Item' })).toBeVisible();
  await shoot(page, 'items');
  await expectAccessible(page);
  await setTheme(page, 'dark');
  await expectAccessible(page);
});

test('columns are chosen and kept', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.item(database, 'c', ['a'], { id: 'one', pk: 'a', at: { city: 'Bern' }, n: 7 });
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await expect(page.getByRole('columnheader', { name: 'at.city' })).toBeVisible();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'at.city' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('columnheader', { name: 'at.city' })).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('gridcell', { name: 'one' })).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'at.city' })).toHaveCount(0);
});

test('an item is created, edited with every digit, duplicated and deleted', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c', ['/tenant', '/user']);
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await page.getByRole('button', { name: 'New item' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('tenant');
  await type(page, '{"id": "one", "tenant": "t", "big": 12345678901234567890, "user": null');
  await expect(page.getByText(/This is not JSON/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create', exact: true })).toBeDisabled();
  await type(page, '{"id": "one", "tenant": "t", "big": 12345678901234567890, "user": null}');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByText(/Created for [\d.]+ RU/)).toBeVisible();
  await expect(page.getByRole('gridcell', { name: 'one' })).toBeVisible();

  // A level of the key that the item does not have.
  await type(page, '{"id": "one", "tenant": "t", "big": 12345678901234567891, "user": null, "more": true}');
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByText(/Saved for [\d.]+ RU/)).toBeVisible();
  const stored = await account.ask('GET', `/dbs/${database}/colls/c/docs/one`, undefined, { 'x-ms-documentdb-partitionkey': '["t",null]' });
  expect(stored.text).toContain('12345678901234567891');

  await type(page, '{"id": "one", "tenant": "other", "user": null}');
  await expect(page.getByText('An item cannot move to another partition key')).toBeVisible();
  await page.getByRole('button', { name: 'Revert' }).click();

  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByText(/Created for/)).toBeVisible();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete item' }).click();
  await expect(page.getByText('No item is chosen')).toBeVisible();
  await expect.poll(() => account.query(database, 'c', 'SELECT VALUE c.id FROM c')).toEqual(['one']);
});

test('an item without a partition key is written too', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c', ['/a/b']);
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await page.getByRole('button', { name: 'New item' }).click();
  await type(page, '{"id": "none"}');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByText(/Created for/)).toBeVisible();
  await type(page, '{"id": "none", "x": 1}');
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByText(/Saved for/)).toBeVisible();
});

test('who writes an item that was changed meanwhile sees both sides', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.item(database, 'c', ['a'], { id: 'one', pk: 'a', by: 'nobody', n: 1 });
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await page.getByRole('gridcell', { name: 'one' }).click();
  await type(page, '{"id": "one", "pk": "a", "by": "me", "n": 1}');
  await account.item(database, 'c', ['a'], { id: 'one', pk: 'a', by: 'another', n: 1 });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'The item was changed meanwhile' });
  await expect(dialog.locator('.other')).toHaveCount(2);
  await expect(dialog).toContainText('"by": "another"');
  await shoot(page, 'conflict');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('"me"');

  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await expect(page.getByText(/Saved for/)).toBeVisible();
  expect(await account.query(database, 'c', 'SELECT VALUE c["by"] FROM c')).toEqual(['me']);

  await type(page, '{"id": "one", "pk": "a", "by": "me again", "n": 1}');
  await account.item(database, 'c', ['a'], { id: 'one', pk: 'a', by: 'another again', n: 1 });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Take theirs' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('another again');
});

test('unsaved text is asked about before another row is shown', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', [
    { id: 'one', pk: 'a' },
    { id: 'two', pk: 'a' },
  ]);
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await page.getByRole('gridcell', { name: 'one' }).click();
  await type(page, '{"id": "one", "pk": "a", "typed": true}');
  await page.getByRole('gridcell', { name: 'two' }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('typed');
  await page.getByRole('gridcell', { name: 'two' }).click();
  await question.getByRole('button', { name: 'Discard and leave' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('two');
  await expect(page).toHaveURL(/items\/two\//);
});

test('a save on its way is not typed over, and calls nobody back who has left', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', [
    { id: 'one', pk: 'a', by: 'nobody' },
    { id: 'two', pk: 'a', by: 'nobody' },
  ]);
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  const editor = page.locator('.cm-content[aria-label="Item as JSON"]');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const two = page.getByRole('gridcell', { name: 'two', exact: true });
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.getByRole('gridcell', { name: 'one', exact: true }).click();
  await type(page, '{"id": "one", "pk": "a", "by": "me"}');
  const refuse = await hold(page, 'PUT', '**/docs/one');
  await save.click();
  await expect(editor).toHaveAttribute('aria-readonly', 'true');
  await two.click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  refuse({ status: 429, json: { code: 'TooManyRequests', message: 'Come again later.' } });
  await expect(page.getByRole('alert')).toContainText('Come again later.');
  await expect(editor).toHaveAttribute('aria-readonly', 'false');
  await expect(editor).toContainText('"me"');

  // Another item is shown when the answer comes: the row is told of it, and nothing else.
  const sendOne = await hold(page, 'PUT', '**/docs/one');
  await save.click();
  await two.click();
  await question.getByRole('button', { name: 'Discard and leave' }).click();
  await expect(editor).toContainText('two');
  sendOne();
  await expect(page.getByRole('gridcell', { name: 'me', exact: true })).toBeVisible();
  await expect(page).toHaveURL(/items\/two\//);
  await expect(editor).toContainText('nobody');

  // Another view.
  await type(page, '{"id": "two", "pk": "a", "by": "me"}');
  const sendTwo = await hold(page, 'PUT', '**/docs/two');
  await save.click();
  await page.getByRole('navigation', { name: 'Views of the container' }).getByRole('link', { name: 'Settings', exact: true }).click();
  await question.getByRole('button', { name: 'Discard and leave' }).click();
  await expect(page).toHaveURL(/settings$/);
  const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
  sendTwo();
  await answered;
  await expect.poll(() => account.query(database, 'c', 'SELECT VALUE c["by"] FROM c')).toEqual(['me', 'me']);
  await page.waitForTimeout(300);
  await expect(page).toHaveURL(/settings$/);
});

test('a list that begins anew leaves the item that was shown, after a question', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', Array.from({ length: 9 }, (_, n) => ({ id: `i-${n}`, pk: 'a', n })));
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const none = page.getByText('No item is chosen');
  const row = (id: string) => page.getByRole('gridcell', { name: id, exact: true });
  const filter = page.getByLabel('Filter: what stands behind WHERE');
  await filter.fill('c.n >= 6');
  await page.keyboard.press('Enter');
  await expect(page.getByText('3 matches, all of them')).toBeVisible();
  await row('i-6').click();
  await type(page, '{"id": "i-6", "pk": "a", "n": 6, "typed": true}');
  await page.getByRole('button', { name: 'Clear' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('typed');
  await expect(filter).toHaveValue('c.n >= 6');
  await page.getByRole('button', { name: 'Load the items again' }).click();
  await question.getByRole('button', { name: 'Discard and leave' }).click();
  await expect(none).toBeVisible();
  await row('i-7').click();
  await expect(none).toBeHidden();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(none).toBeVisible();
  await expect(page.getByText('9 items, all of them')).toBeVisible();

  await row('i-4').click();
  await type(page, '{"id": "i-4", "pk": "a", "n": 4, "typed": true}');
  await page.getByRole('button', { name: 'Upload' }).click();
  const dialog = page.getByRole('dialog', { name: 'Upload items' });
  await dialog.getByLabel('File with items').setInputFiles({ name: 'one.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{"id":"u","pk":"a"}') });
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await expect(dialog.getByRole('status')).toContainText('Done: 1 item written, 0 refused');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await question.getByRole('button', { name: 'Discard and leave' }).click();
  await expect(none).toBeVisible();
  await expect(page.getByText('10 items, all of them')).toBeVisible();
});

test('the table has every digit', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.item(database, 'c', ['a'], '{"id":"one","pk":"a","big":9007199254740993,"list":[9007199254740993,1]}');
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await expect(page.getByRole('gridcell', { name: '9007199254740993', exact: true })).toBeVisible();
  await expect(page.getByRole('gridcell', { name: '[9007199254740993,1]', exact: true })).toBeVisible();
});

test('object ids and dates are keys where the container has such types', async ({ page, account }) => {
  const database = await account.database();
  const [oid, date] = [{ $oid: '0123456789abcdef01234567' }, { $date: { $numberLong: '-5' } }];
  await account.container(database, 'typed', ['/pk'], { extendedTypes: true });
  await account.container(database, 'plain');
  const items = [
    { container: 'typed', id: 'first', pk: oid, key: oid, shown: JSON.stringify(oid) },
    { container: 'typed', id: 'second', pk: date, key: date, shown: JSON.stringify(date) },
    // Not as the server writes it, and where there is no such type: an object, which is no key.
    { container: 'typed', id: 'third', pk: { $oid: 'not one' }, key: {}, shown: 'undefined' },
    { container: 'plain', id: 'fourth', pk: oid, key: {}, shown: 'undefined' },
  ];
  for (const { container, id, pk, key } of items) await account.item(database, container, [key], { id, pk });
  for (const { container, id, pk, shown } of items) {
    await page.goto(account.url(`#/db/${database}/c/${container}/items`));
    await page.getByRole('gridcell', { name: id, exact: true }).click();
    await expect(page.locator('.detail .status code')).toHaveText(shown);
    await type(page, JSON.stringify({ id, pk, seen: true }));
    await page.keyboard.press('ControlOrMeta+s');
    await expect(page.getByText(/Saved for/)).toBeVisible();
    // The address has the key, too.
    await page.reload();
    await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('"seen": true');
  }
});

test('a filter finds items, and says what is wrong with it', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', Array.from({ length: 9 }, (_, n) => ({ id: `i-${n}`, pk: 'a', n })));
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  const filter = page.getByLabel('Filter: what stands behind WHERE');
  await filter.fill('c.n >= 6 ORDER BY c.n DESC');
  await page.keyboard.press('Enter');
  await expect(page.getByText('3 matches, all of them')).toBeVisible();
  await expect(page.getByRole('row').nth(1)).toContainText('i-8');
  await filter.fill('c.n >=');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Syntax error');
  await filter.fill('c.n = 100');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No item matches the filter')).toBeVisible();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(page.getByText('9 items, all of them')).toBeVisible();
});

test('files go in and come out', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.item(database, 'c', ['a'], { id: 'l0', pk: 'a' });
  await page.goto(account.url(`#/db/${database}/c/c/items`));
  await page.getByRole('button', { name: 'Upload' }).click();
  const dialog = page.getByRole('dialog', { name: 'Upload items' });
  const lines = ['{"id":"l1","pk":"a","n":1.50}', 'this is no JSON', '{"pk":"a","noid":true}', '{"id":"l0","pk":"a"}'];
  await dialog.getByLabel('File with items').setInputFiles({ name: 'some.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines.join('\n')) });
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await expect(dialog.getByRole('status')).toContainText('Done: 2 items written, 2 refused');
  await expect(dialog).toContainText('Line 2:');
  await expect(dialog).toContainText('Line 4:');
  await shoot(page, 'upload');
  await expectAccessible(page);

  const csv = 'id,pk,n,note\r\n7,a,2,"with, a comma\nand a line"\r\nc2,b,true,\r\n';
  await dialog.getByLabel('File with items').setInputFiles({ name: 'some.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await expect(dialog.getByRole('status')).toContainText('Done: 2 items written, 0 refused');
  const array = '[{"id":"x1","pk":"a"},{"id":"l1","pk":"a","n":2}]';
  await dialog.getByLabel('File with items').setInputFiles({ name: 'some.json', mimeType: 'application/json', buffer: Buffer.from(array) });
  await dialog.getByLabel('are replaced').check();
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await expect(dialog.getByRole('status')).toContainText('Done: 2 items written, 0 refused');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByText('6 items, all of them')).toBeVisible();
  expect(await account.query(database, 'c', "SELECT VALUE c.note FROM c WHERE c.id = '7'")).toEqual(['with, a comma\nand a line']);

  await page.getByRole('button', { name: 'Download' }).click();
  const down = page.getByRole('dialog', { name: 'Download items' });
  const [jsonl] = await Promise.all([page.waitForEvent('download'), down.getByRole('button', { name: 'Download' }).click()]);
  const text = await readFile(await jsonl.path(), 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(6);
  expect(text).not.toContain('_etag');
  await down.getByLabel('CSV').check();
  const [file] = await Promise.all([page.waitForEvent('download'), down.getByRole('button', { name: 'Download' }).click()]);
  const table = await readFile(await file.path(), 'utf8');
  expect(table).toContain('"with, a comma\nand a line"');
  expect(table.split('\r\n')[0]).toContain('id');
});

test('what stands in items and names is text, never a part of the page', async ({ page, account }) => {
  const evil = '<img src=x onerror=alert(1)>';
  const script = '"><script>alert(2)</script>';
  const database = await account.database(`${account.name()} ${evil}`.replaceAll('/', ''));
  const container = `c ${evil}`;
  await account.container(database, container);
  await account.items(database, container, [
    { id: evil, pk: script, [evil]: script, note: 'javascript:alert(3)' },
    { id: 'a/b?c#d%e', pk: 'a' },
    { id: '..', pk: 'a' },
  ]);
  await page.goto(account.url(`#/db/${encodeURIComponent(database)}/c/${encodeURIComponent(container)}/items`));
  await expect(page.getByRole('gridcell', { name: evil, exact: true })).toBeVisible();
  await page.getByRole('gridcell', { name: evil, exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('onerror');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.keyboard.press('Escape');
  for (const view of ['settings', 'query']) {
    await page.goto(account.url(`#/db/${encodeURIComponent(database)}/c/${encodeURIComponent(container)}/${view}`));
    await expect(page.getByRole('heading', { level: 1 })).toContainText(evil);
  }
  await page.goto(account.url(`#/db/${encodeURIComponent(database)}`));
  await expect(page.getByRole('link', { name: container })).toBeVisible();
  await page.getByRole('button', { name: `Delete ${container}` }).click();
  await expect(page.getByRole('dialog')).toContainText(evil);
  await page.keyboard.press('Escape');
  await page.goto(account.url());
  await expect(page.getByRole('link', { name: database })).toBeVisible();
  expect(await page.locator('img[onerror], body script:not([src])').count()).toBe(0);

  // Names that mean something in addresses lead to their items nevertheless.
  await page.goto(account.url(`#/db/${encodeURIComponent(database)}/c/${encodeURIComponent(container)}/items`));
  for (const id of ['..', 'a/b?c#d%e']) {
    await page.getByRole('gridcell', { name: id, exact: true }).click();
    await type(page, JSON.stringify({ id, pk: 'a', seen: true }));
    await page.keyboard.press('ControlOrMeta+s');
    await expect(page.getByText(/Saved for/)).toBeVisible();
  }
});
