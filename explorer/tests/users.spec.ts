//! Users, permissions and resource tokens.

import { Account, expect, expectAccessible, shoot, startAccount, test } from './support/fixture';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('a user gets a permission, whose token is shown once and works', async ({ page, account, server }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.item(database, 'orders', ['Oslo'], { id: '1', pk: 'Oslo' });
  await page.goto(account.url(`#/db/${database}/users`));
  await page.getByLabel('New user').fill(HOSTILE);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: HOSTILE })).toBeVisible();
  await expect(page.getByText('This user may do nothing yet.')).toBeVisible();

  await page.getByRole('button', { name: 'New permission…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('reads-oslo');
  await dialog.getByRole('radio', { name: 'One partition key' }).check();
  await dialog.getByLabel('/pk', { exact: true }).fill('Oslo');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const row = page.getByRole('row', { name: /reads-oslo/ });
  await expect(row).toContainText(`dbs/${database}/colls/orders`);
  await expect(row).toContainText('["Oslo"]');
  await expect(page.locator('body')).not.toContainText('type=resource');
  await expectAccessible(page);
  await shoot(page, 'users');

  await page.getByRole('button', { name: 'Token of reads-oslo' }).click();
  await dialog.getByLabel('Good for, in seconds').fill('5');
  await expect(dialog.getByRole('button', { name: 'Make a token' })).toBeDisabled();
  await dialog.getByLabel('Good for, in seconds').fill('600');
  await dialog.getByRole('button', { name: 'Make a token' }).click();
  await expect(dialog.getByText(/^Good until/)).toBeVisible();
  const token = await dialog.getByLabel('Token', { exact: true }).inputValue();
  expect(token).toMatch(/^type=resource&ver=1/);
  const read = async () => {
    const holder = new Account(server.url, { token });
    const key = { 'x-ms-documentdb-partitionkey': '["Oslo"]' };
    return (await holder.ask('GET', `/dbs/${database}/colls/orders/docs/1`, undefined, key)).status;
  };
  expect(await read()).toBe(200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.locator('body')).not.toContainText('type=resource');

  await page.getByRole('button', { name: 'Delete reads-oslo' }).click();
  await expect(dialog).toContainText('stay good until they end');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row).toBeHidden();
  expect(await read()).toBe(200);
  await page.getByRole('button', { name: 'Delete the user…' }).click();
  await expect(dialog).toContainText('stay good until they end');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('There is none yet.')).toBeVisible();
});

test('what the server refuses is told in its words', async ({ page, account }) => {
  const database = await account.database();
  await account.ask('POST', `/dbs/${database}/users`, { id: 'ada' });
  await page.goto(account.url(`#/db/${database}/users/ada`));
  await page.getByLabel('New user').fill('ada');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('409');
});

test('who may only read is offered no change', async ({ page }) => {
  const key = Buffer.from('a key that reads').toString('base64');
  const server = await startAccount(['--read-only-key', key]);
  try {
    const account = new Account(server.url);
    const database = await account.database();
    await account.container(database, 'orders');
    await account.ask('POST', `/dbs/${database}/users`, { id: 'ada' });
    await account.ask('POST', `/dbs/${database}/colls/orders/sprocs`, { id: 'f', body: 'function f() {}' });
    const signedIn = await page.request.post(`${server.url}/_explorer/session`, { data: { key } });
    const { csrf } = (await signedIn.json()) as { csrf: string };
    await page.addInitScript((token) => localStorage.setItem('armilla.session', token), csrf);

    await page.goto(account.url(`#/db/${database}/c/orders/partitions`));
    await expect(page.getByRole('heading', { name: 'Partition 0' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Split…' })).toBeHidden();
    await page.goto(account.url(`#/db/${database}/c/orders/throughput`));
    await expect(page.getByText('Least allowed')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Apply' })).toBeHidden();
    await page.goto(account.url(`#/db/${database}/c/orders/scripts/procedures/f`));
    await expect(page.locator('.script-editor')).toContainText('function f()');
    await expect(page.getByRole('button', { name: /^(Save|Run|Delete…|New stored procedure)$/ })).toHaveCount(0);
    await page.goto(account.url(`#/db/${database}/users/ada`));
    await expect(page.getByText('Permissions are shown to who has the key')).toBeVisible();
    await expect(page.getByRole('button', { name: /Delete the user|New permission|Create/ })).toHaveCount(0);
  } finally {
    await server.stop();
  }
});
