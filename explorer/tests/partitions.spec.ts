//! The ring of hashed keys, the figures of its arcs, splitting and merging.

import { test, expect, expectAccessible, shoot, type Page } from './support/fixture';

const HOSTILE = '<img src=x onerror=alert(1)>';

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByRole('heading', { name: 'The ring of hashed keys' })).toBeVisible();
}

test('every partition is an arc, and the chosen one tells everything', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'devices', ['/pk']);
  await account.items(database, 'devices', Array.from({ length: 40 }, (_, n) => ({ id: `i${n}`, pk: n % 2 ? HOSTILE : `key ${n}` })));
  await open(page, account.url(`#/db/${database}/c/devices/partitions`));

  const ring = page.getByRole('group', { name: 'The ring of hashed keys in 2 arcs' });
  const arcs = ring.getByRole('button');
  await expect(arcs).toHaveCount(2);
  await expect(arcs.first()).toHaveAccessibleName(/Partition 0, from 00 to .*RU\/s used.*refused.*items.*stored/);
  await expect(arcs.first()).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('heading', { name: 'Partition 0' })).toBeVisible();

  await arcs.first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(arcs.nth(1)).toBeFocused();
  await expect(page.getByRole('heading', { name: 'Partition 1' })).toBeVisible();
  await page.getByRole('region', { name: 'Partitions as bars' }).getByRole('button', { name: /^0/ }).click();
  await expect(page.getByRole('heading', { name: 'Partition 0' })).toBeVisible();

  // One of the two has the key that looks like a tag.
  const key = page.getByRole('rowheader', { name: JSON.stringify(HOSTILE) });
  if (!(await key.isVisible())) await arcs.nth(1).press('Enter');
  await expect(key).toBeVisible();
  await expect(page.getByRole('row', { name: /Writes/ }).getByRole('cell').first()).not.toHaveText('0');
  await expectAccessible(page);
  await shoot(page, 'partitions');
  await page.setViewportSize({ width: 400, height: 800 });
  await expectAccessible(page);
});

test('a partition key is found on the ring', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'devices', ['/tenant', '/device']);
  await open(page, account.url(`#/db/${database}/c/devices/partitions`));
  const finder = page.getByRole('form', { name: 'Where a partition key lies' });
  for (const name of ['ada', 'bob', 'ö']) {
    await finder.getByLabel('/tenant', { exact: true }).fill(name);
    await finder.getByLabel('Type of /device').selectOption('number');
    await finder.getByLabel('/device', { exact: true }).fill('7');
    await finder.getByRole('button', { name: 'Find' }).click();
    const told = finder.getByText(`["${name}",7] lies in partition`);
    await expect(told).toBeVisible();
    const partition = /partition (\d+)/.exec((await told.textContent()) ?? '')?.[1];
    await expect(page.getByRole('heading', { name: `Partition ${partition}` })).toBeVisible();
  }
});

test('a partition is split and merged again', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'devices', ['/pk'], {}, 1_000);
  await account.items(database, 'devices', Array.from({ length: 30 }, (_, n) => ({ id: `i${n}`, pk: n })));
  await open(page, account.url(`#/db/${database}/c/devices/partitions`));

  await page.getByRole('button', { name: 'Split…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Split partition 0' });
  await expect(dialog).toContainText('With 2 partitions, each has 500.00');
  await expectAccessible(page);
  await dialog.getByLabel('Cut at the hash').fill('xyz');
  await expect(dialog.getByRole('button', { name: 'Split', exact: true })).toBeDisabled();
  // The server's own words about a cut that is none.
  await dialog.getByLabel('Cut at the hash').fill('FF');
  await dialog.getByRole('button', { name: 'Split', exact: true }).click();
  await expect(dialog.getByRole('alert')).toContainText('400');
  await dialog.getByLabel('Cut at the hash').fill('0CA1');
  await dialog.getByRole('button', { name: 'Split', exact: true }).click();

  await expect(page.getByText(/^0 became 1 and 2, seen after/)).toBeVisible();
  await expect(page.getByRole('group', { name: /in 2 arcs/ }).getByRole('button')).toHaveCount(2);
  await expect(page.getByRole('button', { name: '2 from 0CA1', exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'Merge with 2…' }).click();
  await page.getByRole('dialog', { name: 'Merge 1 with 2?' }).getByRole('button', { name: 'Merge' }).click();
  await expect(page.getByText(/^1 and 2 became 3, seen after/)).toBeVisible();
  await expect(page.getByRole('group', { name: /in one arc/ })).toBeVisible();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(page.getByText(/^1 and 2 became/)).toBeHidden();
});

test('figures are asked for once a second at most, and by nobody who does not look', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'devices');
  let asked = 0;
  page.on('request', (request) => {
    if (/\/_armilla\/dbs\/.*\/partitions$/.test(request.url())) asked += 1;
  });
  await open(page, account.url(`#/db/${database}/c/devices/partitions`));
  asked = 0;
  await page.waitForTimeout(3_000);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(3);
  await page.getByRole('link', { name: 'Scripts' }).or(page.getByRole('tab', { name: 'Scripts' })).first().click();
  await expect(page.getByRole('navigation', { name: 'Scripts' })).toBeVisible();
  asked = 0;
  await page.waitForTimeout(2_000);
  expect(asked).toBe(0);
});

test('with several nodes each partition says where it is', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'devices');
  const nodes = [
    { name: '7cf09857-0619-445f-9b97-4094edde793b', address: '10.0.0.1:7000', version: '0.1.0', partitions: 4, self: true },
    { name: '8b1ad323-d0e1-4f1b-ac92-e0e2d7972d84', address: '10.0.0.2:7000', version: '0.1.0', partitions: 3, self: false },
  ];
  await page.route('**/_armilla/nodes', (route) => route.fulfill({ json: { nodes } }));
  await page.route('**/_armilla/dbs/*/colls/*/partitions', async (route) => {
    const told = (await (await route.fetch()).json()) as { partitions: { node: string | null }[] };
    told.partitions.forEach((partition, index) => (partition.node = nodes[index % 2]?.name ?? null));
    await route.fulfill({ json: told });
  });
  await open(page, account.url(`#/db/${database}/c/devices/partitions`));
  const bars = page.getByRole('region', { name: 'Partitions as bars' });
  await expect(bars.getByText('at 10.0.0.1:7000 (asked)')).toBeVisible();
  await expect(bars.getByText('at 10.0.0.2:7000')).toBeVisible();
  await expect(page.getByText('10.0.0.1:7000 has 4 partitions of the account; 10.0.0.2:7000 has 3')).toBeVisible();
  await shoot(page, 'partitions-nodes');
});
