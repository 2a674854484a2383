//! What was used, what is provisioned, and changing it.

import { test, expect, expectAccessible, shoot } from './support/fixture';

test('what was used stands in lines and in numbers', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.items(database, 'orders', Array.from({ length: 60 }, (_, n) => ({ id: `i${n}`, pk: n })));
  await page.goto(account.url(`#/db/${database}/c/orders/throughput`));

  const used = page.getByRole('figure', { name: /Request units used/ });
  await expect(used).toBeVisible();
  await expect(used.locator('canvas')).toBeVisible();
  await expect(used).toHaveAccessibleName(/Container: now .* at most [1-9].* RU in each second. Provisioned: 10,000/);
  await used.getByText('Numbers').click();
  const numbers = used.getByRole('table');
  await expect(numbers.getByRole('row')).toHaveCount(61);
  await expect(numbers.getByRole('columnheader', { name: 'Provisioned' })).toBeVisible();

  await page.getByRole('tab', { name: 'By partition' }).click();
  const line = used.getByRole('button', { name: /Partition 1/ });
  await expect(line).toHaveAttribute('aria-pressed', 'true');
  await line.click();
  await expect(line).toHaveAttribute('aria-pressed', 'false');
  await page.getByRole('tab', { name: 'Last hour' }).click();
  await expect(used).toContainText('average of each minute');
  await expectAccessible(page);
  await shoot(page, 'throughput');
});

test('a change is shown before it is made, with its splits', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await page.goto(account.url(`#/db/${database}/c/orders/throughput`));
  const field = page.getByLabel('RU/s', { exact: true });
  await expect(field).toHaveValue('10000');
  const apply = page.getByRole('button', { name: 'Apply' });
  await expect(apply).toBeDisabled();

  await field.fill('12345');
  await expect(page.getByText('It goes in steps of 100 RU/s.')).toBeVisible();
  await field.fill('300');
  await expect(page.getByText('The least is 400 RU/s here.')).toBeVisible();
  await expect(apply).toBeDisabled();
  await field.fill('18000');
  await expect(page.getByRole('img', { name: '2 partitions on the ring, 0 of them new, each with 9,000 RU/s' })).toBeVisible();
  await field.fill('25000');
  await expect(page.getByText('2 become 3 by 1 split, the widest arcs first')).toBeVisible();
  await expect(page.getByText('25,000 for each hour, 18,250,000 for a month')).toBeVisible();
  await apply.click();
  const dialog = page.getByRole('dialog', { name: 'Make 1 split?' });
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Change the throughput' }).click();
  await expect(page.getByRole('img', { name: '3 partitions on the ring, 0 of them new' })).toBeVisible({ timeout: 15_000 });
  await expect(page.getByText('25,000', { exact: true }).first()).toBeVisible();
});

test('manual throughput becomes autoscale', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders', ['/pk'], {}, 500);
  await page.goto(account.url(`#/db/${database}/c/orders/throughput`));
  await page.getByRole('radio', { name: /Autoscale/ }).check();
  const field = page.getByLabel('Maximum RU/s');
  await expect(field).toHaveValue('1000');
  await field.fill('3000');
  await expect(page.getByText('300 to 3,000 for each hour')).toBeVisible();
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByText('RU/s at most')).toBeVisible();
  await expect(page.getByText('Provisioned in this hour')).toBeVisible();
  const offers = (await account.ask('GET', '/offers')).json<{ Offers: { resource: string; content: { offerAutopilotSettings?: object } }[] }>();
  expect(JSON.stringify(offers)).toContain('"maxThroughput":3000');
});

test('throughput of a database is shown as that', async ({ page, account }) => {
  const database = await account.database(undefined, 1_000);
  await account.container(database, 'orders', ['/pk'], {}, 0);
  await page.goto(account.url(`#/db/${database}/c/orders/throughput`));
  await expect(page.getByText('Throughput of the database', { exact: true })).toBeVisible();
  await expect(page.getByText('This changes the throughput of the database')).toBeVisible();
  await page.goto(account.url(`#/db/${database}/c/orders/partitions`));
  await expect(page.getByText('The throughput belongs to the database')).toBeVisible();
});
