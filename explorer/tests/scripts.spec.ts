//! Stored procedures, triggers and functions.

import { test, expect, expectAccessible, shoot, type Page } from './support/fixture';
import { hold } from './support/hold';

const HOSTILE = '<img src=x onerror=alert(1)>';

async function write(page: Page, text: string): Promise<void> {
  const editor = page.locator('.script-editor .cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

test('a procedure is made, run, changed and deleted', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.item(database, 'orders', ['a'], { id: '1', pk: 'a', n: 1 });
  await page.goto(account.url(`#/db/${database}/c/orders/scripts`));

  await page.getByRole('button', { name: 'New stored procedure' }).click();
  await expect(page.locator('.script-editor')).toContainText('one transaction');
  await page.getByLabel('Name', { exact: true }).fill(HOSTILE);
  await write(
    page,
    `function f(name, count) {
      console.log("${HOSTILE} " + name);
      getContext().getResponse().setBody({ name, count, tag: "${HOSTILE}" });
    }`,
  );
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: HOSTILE })).toBeVisible();
  await expect(page).toHaveURL(/scripts\/procedures\/%3Cimg/);

  await page.getByLabel('/pk', { exact: true }).fill('a');
  await page.getByRole('button', { name: 'Add an argument' }).click();
  await page.getByLabel('argument 1', { exact: true }).fill('Zoë');
  await page.getByRole('button', { name: 'Add an argument' }).click();
  await page.getByLabel('Type of argument 2').selectOption('json');
  await page.getByLabel('argument 2', { exact: true }).fill('[1,');
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeDisabled();
  await page.getByLabel('argument 2', { exact: true }).fill('[1, {"x": null}]');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByLabel('Result of the procedure')).toContainText(`"tag": "${HOSTILE}"`);
  await expect(page.getByLabel('Result of the procedure')).toContainText('"name": "Zoë"');
  await expect(page.getByLabel('Console of the procedure')).toContainText(`${HOSTILE} Zoë`);
  await expect(page.locator('.run-outcome .facts').first()).toContainText(/Charge\s*\d+\.\d\d RU/);
  await expectAccessible(page);
  await shoot(page, 'scripts');

  await write(page, `function f() { console.log("before"); throw new Error(4001, "${HOSTILE}"); }`);
  await expect(page.getByText('The stored text runs')).toBeVisible();
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByText('The stored text runs')).toBeHidden();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('alert').filter({ hasText: HOSTILE })).toContainText('4001');
  await expect(page.getByLabel('Console of the procedure')).toHaveText(/before/);

  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('0 stored procedures')).toBeVisible();
});

test('a rehearsal tells what would be written, and leaves nothing', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.item(database, 'orders', ['a'], { id: '1', pk: 'a', n: 1 });
  const body = `function f() {
    const c = getContext().getCollection();
    c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c', {}, (error, found) => {
      c.createDocument(c.getSelfLink(), { id: '${HOSTILE.replace('/', '')}', pk: 'a' });
    });
  }`;
  await account.ask('POST', `/dbs/${database}/colls/orders/sprocs`, { id: 'p', body });
  await page.goto(account.url(`#/db/${database}/c/orders/scripts/procedures/p`));
  await page.getByLabel('/pk', { exact: true }).fill('a');
  await page.getByLabel('Rehearse: forget what it writes').check();
  await page.getByRole('button', { name: 'Rehearse', exact: true }).click();
  const told = page.getByRole('region', { name: 'What it read and wrote' });
  await expect(told).toContainText('It read 1 row by 1 query and made 1 write, which is forgotten.');
  await expect(told.getByRole('listitem')).toHaveText(`create ${HOSTILE}`);
  expect(await account.query(database, 'orders', 'SELECT * FROM c')).toHaveLength(1);
  await expectAccessible(page);
  await page.getByLabel('Rehearse: forget what it writes').uncheck();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(told).toContainText('made 1 write.');
  expect(await account.query(database, 'orders', 'SELECT * FROM c')).toHaveLength(2);
});

test('a trigger has its time and its operation', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await page.goto(account.url(`#/db/${database}/c/orders/scripts/triggers`));
  await page.getByRole('button', { name: 'New trigger' }).click();
  await page.getByLabel('Name', { exact: true }).fill('check');
  await page.getByLabel('Runs').selectOption('Post');
  await expect(page.locator('.script-editor')).toContainText('Runs after a write');
  await page.getByLabel('On', { exact: true }).selectOption('Replace');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByText('x-ms-documentdb-post-trigger-include: check')).toBeVisible();
  await page.reload();
  await expect(page.getByLabel('Runs')).toHaveValue('Post');
  await expect(page.getByLabel('On', { exact: true })).toHaveValue('Replace');
  await expect(page.getByRole('button', { name: /check.*Post Replace/ })).toBeVisible();
});

test('a function that somebody else saved meanwhile is not overwritten', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  const path = `/dbs/${database}/colls/orders/udfs`;
  await account.ask('POST', path, { id: 'net', body: 'function net(x) { return 1; }' });
  await page.goto(account.url(`#/db/${database}/c/orders/scripts/functions/net`));
  await expect(page.getByText('SELECT VALUE udf.net(c.id) FROM c')).toBeVisible();
  await account.ask('PUT', `${path}/net`, { id: 'net', body: 'function net(x) { return 2; }' });
  await write(page, 'function net(x) { return 3; }');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Somebody else saved this script')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('412');
  await page.getByRole('button', { name: 'Read the newest, keep my text' }).click();
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(page.locator('.script-editor')).toContainText('return 3');
  // The newest was read in the background: the save replaces that.
  await expect(async () => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByText('net was saved.')).toBeVisible({ timeout: 1_000 });
  }).toPass();
  const stored = (await account.ask('GET', `${path}/net`)).json<{ body: string }>();
  expect(stored.body).toBe('function net(x) { return 3; }');
});

test('what was typed is not lost without a question', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  for (const id of ['one', 'two']) {
    await account.ask('POST', `/dbs/${database}/colls/orders/udfs`, { id, body: `function ${id}() { return 1; }` });
  }
  await page.goto(account.url(`#/db/${database}/c/orders/scripts/functions/one`));
  await write(page, 'function one() { return 7; }');
  await page.getByRole('button', { name: 'two' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('.script-editor')).toContainText('return 7');
  await page.getByRole('button', { name: 'New function' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('.script-editor')).toContainText('return 7');
  await page.getByRole('button', { name: 'Undo changes' }).click();
  await page.getByRole('button', { name: 'two' }).click();
  await expect(page.getByRole('heading', { name: 'two' })).toBeVisible();
});

test('a save on its way is not typed over, and calls nobody back who has left', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  for (const id of ['one', 'two']) {
    await account.ask('POST', `/dbs/${database}/colls/orders/udfs`, { id, body: `function ${id}() { return 1; }` });
  }
  await page.goto(account.url(`#/db/${database}/c/orders/scripts/functions/one`));
  await write(page, 'function one() { return 7; }');
  const send = await hold(page, 'PUT', '**/udfs/one');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.locator('.script-editor .cm-content')).toHaveAttribute('aria-readonly', 'true');
  await page.getByRole('button', { name: 'two', exact: true }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Discard and leave' }).click();
  await expect(page.getByRole('heading', { name: 'two' })).toBeVisible();
  send();
  await expect(page.getByText('one was saved.')).toBeVisible();
  await expect(page).toHaveURL(/functions\/two$/);
  await page.getByRole('button', { name: 'one', exact: true }).click();
  await expect(page.locator('.script-editor')).toContainText('return 7');
});
