//! Scripts, and the graph that they find.

import { test } from './support/apis';
import { expect, expectAccessible, shoot, type Page } from './support/fixture';
import { write } from './support/write';

const HOSTILE = '<img src=x onerror=alert(1)>';

const places = (page: Page) => page.locator('.graph-node').evaluateAll((all) => all.map((one) => one.getAttribute('transform')));

/** Waits until nothing moves any more: a layout has an end. */
async function settled(page: Page): Promise<void> {
  await expect(async () => {
    const before = await places(page);
    await page.waitForTimeout(150);
    expect(await places(page)).toEqual(before);
  }).toPass({ timeout: 6_000 });
}

test('a graph is drawn, explored and inspected', async ({ page, account, apis }) => {
  const database = await account.database();
  await account.container(database, 'social');
  await page.goto(account.url(`#/db/${database}/c/social/gremlin`));
  // The example needs to know the partition key.
  await expect(async () => {
    await page.getByRole('button', { name: 'Examples' }).click();
    await page.getByRole('menuitem', { name: /Add a small graph/ }).click({ timeout: 500 });
  }).toPass();
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.getByRole('status').filter({ hasText: 'RU' })).toContainText(/\d+\.\d\d RU/);
  const made = "g.V('ann').as('a').addV(x).property('id', 'x').property('pk', 'x').property('name', x).property(x, x).addE('likes').property('why', x).from('a')";
  await apis.gremlin(database, 'social', made, { x: HOSTILE });

  await write(page, 'Script', "g.V(['ann', 'ann'], ['ben', 'ben'])");
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.locator('.graph-node')).toHaveCount(2);
  await expect(page.locator('.graph-link')).toHaveCount(1);
  await expect(page.getByText('RU for the drawing')).toBeVisible();
  await settled(page);
  // What follows is looked at without waiting for the motion.
  await page.emulateMedia({ reducedMotion: 'reduce' });

  // By keys: to a vertex, and on to its neighbours.
  await page.getByRole('button', { name: 'person Ann' }).focus();
  await expect(page.getByLabel('Chosen vertex')).toContainText('ann');
  await page.keyboard.press('Enter');
  await expect(page.locator('.graph-node')).toHaveCount(4);
  await expect(page.locator('.graph-link')).toHaveCount(3);
  await settled(page);
  const stranger = page.getByRole('button', { name: `${HOSTILE} ${HOSTILE}` });
  await stranger.click();
  await expect(page.getByLabel('Chosen vertex').locator('dl')).toContainText(HOSTILE);
  await page.getByLabel('Chosen vertex').getByRole('button', { name: /likes/ }).click();
  await expect(page.getByLabel('Chosen edge').locator('dl')).toContainText('why');

  // By the pointer: a vertex stays where it was put.
  const ann = page.getByRole('button', { name: 'person Ann' });
  const from = await ann.locator('circle').boundingBox();
  if (!from) throw new Error('it is not drawn');
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 68, from.y + 38, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const to = await ann.locator('circle').boundingBox();
  expect(Math.abs((to?.x ?? 0) - from.x - 60)).toBeLessThan(3);
  await page.getByRole('button', { name: 'Smaller' }).click();
  await page.getByRole('button', { name: 'Fit' }).click();
  // The double click of a vertex adds what is around it.
  await page.getByRole('button', { name: 'person Ben' }).locator('circle').dblclick();
  await expect(page.locator('.graph-link')).toHaveCount(4);
  await settled(page);
  // Each label can be read.
  const labels = await page.locator('.graph-link text').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
  const apart = (one: DOMRect, other: DOMRect) => one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
  expect(labels).toHaveLength(4);
  expect(labels.every((one, at) => labels.slice(at + 1).every((other) => apart(one, other)))).toBe(true);
  await expectAccessible(page);
  await shoot(page, 'gremlin');

  await page.getByRole('tab', { name: 'List' }).click();
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('Ann');
});

test('results without a graph, errors, and the history', async ({ page, account, apis }) => {
  const database = await account.database();
  await account.container(database, 'g');
  await apis.gremlin(database, 'g', "g.addV('t').property('id', '1').property('pk', 'a').property('big', 9007199254740993L)");
  await page.goto(account.url(`#/db/${database}/c/g/gremlin`));
  await write(page, 'Script', 'g.V().count()');
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('1');
  await expect(page.getByRole('tab', { name: 'Graph' })).toBeHidden();
  await write(page, 'Script', 'g.V().bogus()');
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.getByRole('alert')).toContainText("Unable to find any method 'bogus'");
  await expect(page.getByRole('alert')).toContainText('GraphCompileException');
  await page.reload();
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('menuitem', { name: /count\(\).*RU/ }).click();
  await expect(page.locator('.cm-content[aria-label="Script"]')).toHaveText('g.V().count()');
  await write(page, 'Script', "g.V().values('big')");
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('9007199254740993');
});

test('many vertices are cut, still without motion where that is wished', async ({ page, account, apis }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const database = await account.database();
  await account.container(database, 'g');
  const add = "g.V('hub').fold().coalesce(unfold(), addV('hub').property('id', 'hub').property('pk', 'a')).as('h')";
  for (let at = 0; at < 310; at += 62) {
    const each = Array.from({ length: 62 }, (_, n) => `.addV('leaf').property('id', 'n${at + n}').property('pk', 'a').addE('has').from('h')`);
    await apis.gremlin(database, 'g', add + each.join(''));
  }
  await page.goto(account.url(`#/db/${database}/c/g/gremlin`));
  await write(page, 'Script', 'g.V()');
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.locator('.graph-node')).toHaveCount(300);
  await expect(page.getByText('11 vertices beyond 300')).toBeVisible();
  await page.getByRole('button', { name: 'Ask for them' }).click();
  await expect(page.locator('.graph-link')).toHaveCount(299);
  await settled(page);
  await shoot(page, 'gremlin-many');
  await write(page, 'Script', "g.V('hub')");
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.locator('.graph-node').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('It has more than 25 edges')).toBeVisible();
});
