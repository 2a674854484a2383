import { makeOrders, HOSTILE, openQuery, run, write } from './query-data';
import { expect, expectAccessible, setTheme, shoot, test } from './support/fixture';

let place: { database: string; container: string };

test.beforeAll(async ({ account }) => {
  place = await makeOrders(account);
});

test.beforeEach(async ({ page, account }) => {
  await openQuery(page, account, place);
});

test('a query is run by the keys and shows rows, charge and time', async ({ page }) => {
  await run(page, 'SELECT c.id, c.total FROM c WHERE c.pk = "Bonn" ORDER BY c.total DESC');
  const status = page.locator('.query-status');
  await expect(status).toContainText('30 rows');
  await expect(status).toContainText(/\d+\.\d\d RU/);
  const rows = page.getByRole('grid', { name: 'Rows' }).getByRole('row');
  await expect(rows.nth(1)).toContainText('174');
  await expect(rows.nth(1)).toContainText('1740');
  await rows.nth(1).click();
  await expect(page.getByText('Row 1', { exact: true })).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'The chosen row' })).toContainText('"total": 1740');
});

test('one page is read, then the next, then all', async ({ page }) => {
  await page.getByLabel('Rows of a page').selectOption('50');
  await run(page, 'SELECT * FROM c');
  const status = page.locator('.query-status');
  await expect(status).toContainText('50 rows');
  await expect(status).toContainText('1 page');
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(status).toContainText('100 rows');
  await expect(status).toContainText('2 pages');
  await page.getByRole('button', { name: 'All pages' }).click();
  await expect(status).toContainText('180 rows');
  await expect(page.getByRole('button', { name: 'Next page' })).toHaveCount(0);
  await page.getByRole('tab', { name: 'Statistics' }).click();
  await expect(page.getByRole('table', { name: 'Pages' }).getByRole('row')).toHaveCount(5);
});

test('parameters are found in the text and sent as text or JSON', async ({ page }) => {
  await write(page, 'SELECT * FROM c WHERE c.pk = @city AND c.total >= @least -- and not @this');
  const values = page.getByRole('region', { name: 'Parameters' });
  await expect(values.getByRole('textbox')).toHaveCount(2);
  await values.getByLabel('Value of @city').fill('Bonn');
  await values.getByLabel('Value of @least').fill('[1');
  await expect(values.getByRole('alert')).toBeVisible();
  await values.getByLabel('Value of @least').fill('1500');
  await expect(values).toContainText('number');
  await page.keyboard.press('Enter');
  await expect(page.locator('.query-status')).toContainText('5 rows');
});

test('long integers keep their digits', async ({ page }) => {
  await run(page, 'SELECT VALUE INTADD(9007199254740992, 1)');
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('9007199254740993');
  await expect(page.getByRole('columnheader', { name: 'value' })).toBeVisible();
  await page.getByRole('tab', { name: 'JSON' }).click();
  await expect(page.getByRole('textbox', { name: 'Rows as JSON' })).toContainText('9007199254740993');
});

test('long integers keep their digits in parameters and in the partition key', async ({ page }) => {
  await page.getByLabel('Where the query looks').selectOption('key');
  await page.getByLabel('Value of /pk').fill('9007199254740993');
  await write(page, 'SELECT * FROM c WHERE c.total = @n OR ARRAY_CONTAINS(@list, c.total)');
  const values = page.getByRole('region', { name: 'Parameters' });
  await values.getByLabel('Value of @n').fill('9007199254740993');
  await expect(values).toContainText('number');
  await values.getByLabel('Value of @list').fill('[9007199254740995]');
  const asked = page.waitForRequest((request) => request.headers()['x-ms-documentdb-partitionkey'] !== undefined);
  await page.keyboard.press('Enter');
  const request = await asked;
  expect(request.headers()['x-ms-documentdb-partitionkey']).toBe('[9007199254740993]');
  expect(request.postData()).toContain('"value":9007199254740993}');
  expect(request.postData()).toContain('"value":[9007199254740995]');
  await expect(page.locator('.query-status')).toContainText('0 rows');
});

test('one partition key is asked, and a wrong one is told', async ({ page }) => {
  await page.getByLabel('Where the query looks').selectOption('key');
  await write(page, 'SELECT VALUE COUNT(1) FROM c');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.getByRole('alert')).toContainText('Type the value of the partition key');
  await page.getByLabel('Value of /pk').fill('Oslo');
  await page.getByLabel('Value of /pk').press('Enter');
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('30');
  await expect(page.getByRole('tab', { name: 'Partitions' })).toHaveCount(0);
});

test('a running query is cancelled', async ({ page }) => {
  await page.route('**/docs', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await route.continue().catch(() => undefined);
  });
  await write(page, 'SELECT * FROM c');
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled before an answer came.')).toBeVisible();
  await page.unroute('**/docs');
  await run(page, 'SELECT * FROM c');
  await expect(page.locator('.query-status')).toContainText('100 rows');
});

test('what is typed before the editor has come stays, with the cursor', async ({ page }) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/setup-*.js', async (route) => {
    await released;
    await route.continue();
  });
  await page.reload();
  const plain = page.locator('textarea[aria-label="Query"]');
  await plain.fill('SELECT VALUE 41');
  await plain.press('Backspace');
  release();
  const editor = page.locator('.cm-content');
  await expect(editor).toBeFocused();
  await page.keyboard.type('2');
  await expect(editor).toHaveText('SELECT VALUE 42');
});

test('rows are still there after a look at another view', async ({ page }) => {
  await run(page, 'SELECT VALUE 43');
  await page.getByRole('tab', { name: 'Settings' }).or(page.getByRole('link', { name: 'Settings' })).first().click();
  await expect(page.locator('.query')).toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText('43');
});

test('errors are underlined where they are and told whole', async ({ page }) => {
  await write(page, 'SELECT *\nFORM c');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.locator('.cm-lintRange-error')).toHaveText('FORM');
  const problem = page.getByRole('alert');
  await expect(problem).toContainText("incorrect syntax near 'FORM'");
  await expect(problem).toContainText('400');
  await expect(page.getByText('Line 2, column 1')).toBeVisible();
  await page.getByRole('textbox', { name: 'Query', exact: true }).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(' ');
  await expect(page.locator('.cm-lintRange-error')).toHaveCount(0);
});

test('words, functions, aliases and paths of the items are completed', async ({ page }) => {
  const list = page.getByRole('listbox', { name: 'Completions' });
  const options = list.getByRole('option');
  const take = async () => {
    // A list that has just appeared takes no key yet, so that nobody takes what they have not seen.
    await page.waitForTimeout(120);
    await page.keyboard.press('Tab');
  };
  await write(page, 'SELECT * FROM orders o WHERE ');
  await page.keyboard.type('o.custo');
  await expect(options.first()).toContainText('customer');
  await take();
  await page.keyboard.type('.e');
  await expect(options.first()).toContainText('e-mail');
  await take();
  await expect(page.locator('.cm-content')).toContainText('o.customer["e-mail"]');
  await page.keyboard.type(' = ST_DIS');
  await expect(options.first()).toContainText('ST_DISTANCE');
  await expect(page.locator('.cm-completionInfo')).toContainText('The distance in metres');
  await write(page, 'SELECT * FROM ');
  await page.keyboard.type('c');
  await expect(list).toHaveCount(0);
  await page.keyboard.press('Enter');
  await page.keyboard.type('WHERE c.pk');
  await expect(page.locator('.cm-line')).toHaveText(['SELECT * FROM c', 'WHERE c.pk']);
});

test('the charge is explained step by step and adds up', async ({ page }) => {
  await run(page, 'SELECT c.status, COUNT(1) AS n FROM c GROUP BY c.status');
  await page.getByRole('tab', { name: 'Explain' }).click();
  const steps = page.getByRole('table', { name: /^Steps of the query/ });
  await expect(steps).toContainText('Group');
  await expect(steps).toContainText('COUNT(1) AS n');
  await expect(steps).toContainText('Visit partitions');
  const charges = await steps.locator('tbody tr td:nth-of-type(2)').allTextContents();
  const sum = charges.reduce((total, text) => total + Number(text || 0), 0);
  const told = await page.locator('.query-status').textContent();
  expect(sum.toFixed(2)).toBe(/([\d.]+) RU/.exec(told ?? '')?.[1]);
  await shoot(page, 'query-explain');
});

test('a plan is shown for nothing', async ({ page }) => {
  await write(page, 'SELECT * FROM c WHERE c.status = "open" AND c.total > 1500');
  await page.getByRole('button', { name: 'Explain' }).click();
  const plan = page.getByRole('region', { name: 'Plan' });
  await expect(plan).toContainText('nothing was charged');
  await expect(plan).toContainText('/status/?');
  await expect(plan.getByText('Visit partitions')).toBeVisible();
});

test('a missing composite index is named, with a way to the settings', async ({ page }) => {
  await write(page, 'SELECT * FROM c ORDER BY c.status, c.total DESC');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.getByRole('alert')).toContainText('composite index');
  await expect(page.getByText('/status ascending, /total descending')).toBeVisible();
  const link = page.getByRole('link', { name: 'Open the settings with it' });
  await expect(link).toHaveAttribute('href', /\/settings\/composite-index\//);
});

test('each physical partition is asked by itself', async ({ page }) => {
  await run(page, 'SELECT * FROM c WHERE c.pk = "Lyon"');
  await page.getByRole('tab', { name: 'Partitions' }).click();
  await page.getByRole('button', { name: 'Ask each partition' }).click();
  const table = page.getByRole('table', { name: /^What each physical partition/ });
  await expect(page.getByText(/partitions for/)).toBeVisible();
  expect(await table.locator('tbody tr').count()).toBeGreaterThan(1);
  const rows = await table.locator('tbody tr td:nth-of-type(1)').allTextContents();
  expect(rows.reduce((sum, text) => sum + Number(text), 0)).toBe(30);
});

test('hostile values are text wherever they are shown', async ({ page }) => {
  await run(page, 'SELECT c.customer.name, c.total, c.place FROM c WHERE c.id = "5"');
  await expect(page.getByRole('grid', { name: 'Rows' })).toContainText(HOSTILE);
  await page.getByRole('tab', { name: 'JSON' }).click();
  await expect(page.getByRole('textbox', { name: 'Rows as JSON' })).toContainText('onerror');
  await page.getByRole('tab', { name: 'Map' }).click();
  await page.locator('.query-globe circle').click();
  await expect(page.locator('.query-map').getByRole('status')).toContainText(HOSTILE);
  await write(page, 'SELECT * FROM c WHERE c.x = "<b>" <script>');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.getByRole('alert')).toContainText('Syntax error');
});

for (const [theme, tabs] of [['light', ['Table', 'Chart', 'Explain']], ['dark', ['JSON', 'Map', 'Statistics']]] as const) {
  test(`accessible in the ${theme} theme`, async ({ page }) => {
    test.slow();
    await setTheme(page, theme);
    await write(page, 'SELECT c.status, c.date, c.total, c.place FROM c WHERE c.total > @least');
    await page.getByLabel('Value of @least').fill('100');
    await page.keyboard.press('Enter');
    for (const tab of tabs) {
      await page.getByRole('tab', { name: tab }).click();
      if (tab === 'JSON') await page.getByRole('textbox', { name: 'Rows as JSON' }).waitFor();
      await expectAccessible(page);
    }
    await page.setViewportSize({ width: 400, height: 800 });
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
  });
}
