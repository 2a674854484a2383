import { makeOrders, openQuery, run, write } from './query-data';
import { expect, expectAccessible, shoot, test } from './support/fixture';

let place: { database: string; container: string };

test.beforeAll(async ({ account }) => {
  place = await makeOrders(account);
});

test('queries are kept: what was typed, what was run, what was saved', async ({ page, account }) => {
  test.slow();
  await openQuery(page, account, place);
  await run(page, 'SELECT VALUE COUNT(1) FROM c');
  await write(page, 'SELECT TOP 3 * FROM c');
  await page.getByRole('button', { name: 'Saved and history' }).click();
  const dialog = page.getByRole('dialog', { name: 'Queries' });
  await dialog.getByLabel('Save what is in the editor as').fill('Three of them');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog.getByRole('button', { name: /^Three of them/ })).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('tab', { name: 'History' }).click();
  await expect(dialog).toContainText('1 row');
  await dialog.getByRole('button', { name: /COUNT\(1\)/ }).click();
  await expect(dialog).toBeHidden();
  const editor = page.getByRole('textbox', { name: 'Query', exact: true });
  await expect(editor).toContainText('COUNT(1)');

  await page.reload();
  await page.locator('.cm-content').waitFor();
  await expect(editor).toContainText('COUNT(1)');
  await page.getByRole('button', { name: 'Saved and history' }).click();
  await dialog.getByRole('button', { name: 'Delete the saved query Three of them' }).click();
  await expect(dialog).toContainText('No saved queries yet');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Saved and history' })).toBeFocused();
});

test('a column of categories or times makes a chart', async ({ page, account }) => {
  await openQuery(page, account, place);
  await run(page, 'SELECT c.pk AS city, COUNT(1) AS orders, SUM(c.total) AS turnover FROM c GROUP BY c.pk');
  await page.getByRole('tab', { name: 'Chart' }).click();
  const chart = page.getByRole('img', { name: /by city, 6 points/ });
  await expect(chart.locator('rect')).toHaveCount(12);
  await page.getByLabel('orders', { exact: true }).uncheck();
  await expect(chart.locator('rect')).toHaveCount(6);
  await run(page, 'SELECT c.date, c.total FROM c WHERE c.pk = "Bonn"');
  await page.getByRole('tab', { name: 'Chart' }).click();
  await expect(page.getByRole('img', { name: /by date/ }).locator('polyline')).toHaveCount(1);
  await shoot(page, 'query-chart');
  await run(page, 'SELECT c.id FROM c');
  await expect(page.getByRole('tab', { name: 'Chart' })).toHaveCount(0);
});

test('shapes make a map', async ({ page, account }) => {
  await openQuery(page, account, place);
  await run(page, 'SELECT TOP 12 c.id, c.place, {"type": "Polygon", "coordinates": [[[0, 40], [5, 40], [5, 45], [0, 40]]]} AS area FROM c');
  await page.getByRole('tab', { name: 'Map' }).click();
  const map = page.getByRole('img', { name: /^Map of 24 shapes/ });
  await expect(map.locator('circle')).toHaveCount(12);
  await expect(map.locator('path')).toHaveCount(12);
  await expect(map).toContainText('°N');
  await map.locator('circle').first().dispatchEvent('click');
  await expect(page.getByText(/, row \d+: /)).toBeVisible();
  await shoot(page, 'query-map');
});

test('the worked example has its operations as queries', async ({ page, account }) => {
  test.slow();
  const databases = (await account.ask('GET', '/dbs')).json<{ Databases: { id: string }[] }>().Databases;
  if (!databases.some((one) => one.id === 'blog-v1')) await account.database('blog-v1');
  await account.container('blog-v1', 'posts', ['/postId']).catch(() => undefined);
  await account.item('blog-v1', 'posts', ['p1'], { id: 'p1', postId: 'p1', type: 'post', userId: 'u1', creationDate: '2019-05-23T12:00:00.0000000Z' });
  await openQuery(page, account, { database: 'blog-v1', container: 'posts' });
  await page.getByRole('button', { name: 'Saved and history' }).click();
  const dialog = page.getByRole('dialog', { name: 'Queries' });
  await expect(dialog.locator('.demo-cell')).toHaveCount(30);
  await dialog.getByRole('button', { name: 'C3 in V2' }).click();
  await expect(dialog).toContainText('Call createComment(postId, item)');
  await dialog.getByRole('button', { name: 'Q3 in V1' }).click();
  await expectAccessible(page);
  await shoot(page, 'query-demo');
  await dialog.getByRole('button', { name: 'Open in the editor' }).first().click();
  await expect(dialog).toBeHidden();
  await expect(page.getByLabel('Value of @user')).not.toHaveValue('');
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.locator('.query-status')).toContainText(/\d+ rows?/);
});
