-- One session of a person in Neovim, driven headless. Every step that does not come about ends it with a message.
-- Environment: TRIED_RUNTIME (folder with lsp/tried.lua), TRIED_WORKSPACE. Run: nvim --headless --clean -u NONE -l session.lua
local workspace = os.getenv("TRIED_WORKSPACE")
local TIMEOUT = 20000

local function fail(message)
  io.stderr:write("FAIL " .. message .. "\n")
  vim.cmd("cquit 1")
end

local function step(name, condition)
  if not vim.wait(TIMEOUT, condition, 10) then
    fail(name .. "; diagnostics: " .. vim.inspect(vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0))))
  end
  print("ok " .. name)
end

local function expect(name, got, wanted)
  if not vim.deep_equal(got, wanted) then
    fail(("%s: got %s, expected %s"):format(name, vim.inspect(got), vim.inspect(wanted)))
  end
  print("ok " .. name)
end

local function diagnostics() return vim.diagnostic.get(0) end
local function client() return vim.lsp.get_clients({ bufnr = 0, name = "tried" })[1] end
local function code(diagnostic) return diagnostic.code end

local function request(method, params)
  local answer, problem = client():request_sync(method, params, TIMEOUT, 0)
  if not answer or answer.err then fail(method .. ": " .. vim.inspect(problem or answer.err)) end
  return answer.result
end

local function hover_at(line, column)
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
  return request("textDocument/hover", vim.lsp.util.make_position_params(0, client().offset_encoding)).contents.value
end

vim.opt.runtimepath:prepend(os.getenv("TRIED_RUNTIME"))
vim.cmd("filetype on")
vim.lsp.config("tried", { settings = { tried = { inlay_hints = { enable = true } } } })
vim.lsp.enable("tried")

-- 1. A config that repeats a dead end is opened: emoji and Chinese stand before the value on its line.
vim.cmd.edit(workspace .. "/configs/emoji.yaml")
step("a diagnostic", function() return #diagnostics() == 1 end)
expect("the root", client().root_dir, workspace)
local found = diagnostics()[1]
local text = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]
expect("the underlined text", text:sub(found.col + 1, found.end_col), "1e-2")
expect("source and code", { found.source, found.code }, { "tried", "repeat" })
expect("severity", found.severity, vim.diagnostic.severity.WARN)

-- 2. The hover says why, with the breakdown.
local hover = hover_at(found.lnum, found.col)
for _, part in ipairs({ "NaN at step 910", "HYD-005", "lexical", "importance", "score" }) do
  if not hover:find(part, 1, true) then fail("the hover lacks " .. part .. ":\n" .. hover) end
end
print("ok the hover")

-- 3. The value is edited and the finding goes.
vim.api.nvim_buf_set_text(0, found.lnum, found.col, found.lnum, found.end_col, { "3e-3" })
step("the finding is gone", function() return #diagnostics() == 0 end)
vim.cmd("undo")
step("it is back after undo", function() return #diagnostics() == 1 end)
vim.cmd("bdelete!")

-- 4. Another is silenced by a code action, with a reason in the file.
vim.cmd.edit(workspace .. "/configs/bigger_batch.yaml")
step("another diagnostic", function() return #diagnostics() == 1 end)
expect("its code", vim.tbl_map(code, diagnostics()), { "dead-end" })
local other = diagnostics()[1]
vim.api.nvim_win_set_cursor(0, { other.lnum + 1, other.col })
local params = vim.lsp.util.make_range_params(0, client().offset_encoding)
params.context = { diagnostics = { other.user_data.lsp }, triggerKind = 1 }
local silence = vim.tbl_filter(function(action) return action.title:find("^Silence dead%-end here") end,
  request("textDocument/codeAction", params))[1]
if not silence then fail("no action silences it") end
vim.lsp.util.apply_workspace_edit(silence.edit, client().offset_encoding)
local silenced = vim.api.nvim_buf_get_lines(0, other.lnum, other.lnum + 1, false)[1]
if not silenced:find("# tried: ignore[dead-end]", 1, true) then fail("no directive in: " .. silenced) end
step("it is silent", function() return #diagnostics() == 0 end)
vim.cmd("bdelete!")

-- 5. A script beside a results table; then a row lands on disk.
vim.cmd.edit(workspace .. "/autoresearch/train.py")
step("a diagnostic from the results table", function() return #diagnostics() == 1 end)
local before = diagnostics()[1].message
local table_file = io.open(workspace .. "/autoresearch/results.tsv", "a")
table_file:write(os.getenv("TRIED_NEW_ROW") .. "\n")
table_file:close()
local landed = vim.uv.hrtime()
step("the new row is told", function() return #diagnostics() == 2 end)
local seconds = (vim.uv.hrtime() - landed) / 1e9
if seconds > 4 then fail(("the new row took %.1f s"):format(seconds)) end
print(("a row on disk was told after %.2f s, beside: %s"):format(seconds, before))

vim.cmd("bdelete!")

-- 6. A config that nobody has run yet: the line above it says where it stands, and opens the nearest run.
vim.cmd.edit(workspace .. "/configs/follow_up.yaml")
local function lens() return vim.lsp.codelens.get(0)[1] end
step("a code lens, without being asked for", function() return lens() ~= nil end)
if not lens().command.title:find("^never run · nearest: .* differs in ") then fail("the lens: " .. lens().command.title) end
expect("the lens stands above the first entry", lens().range.start.line, 1)
local opened
vim.ui.open = function(place)
  opened = place
  return { wait = function() return { code = 0 } end }
end
vim.api.nvim_win_set_cursor(0, { 2, 0 })
vim.lsp.codelens.run()
step("the lens opens the nearest run", function() return opened ~= nil end)
if not opened:find("^https://tracker.example/harbour/HYD%-%d+$") then fail("opened: " .. opened) end
vim.cmd("buffer " .. vim.fn.bufnr("follow_up.yaml"))

-- 7. Hints stand beside the values, once Neovim is told to show them.
vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
step("inlay hints", function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end)
local labels = vim.tbl_map(function(hint) return hint.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
for _, label in ipairs(labels) do
  if not label:find("^%d+ runs?") then fail("a hint: " .. label) end
end
print("ok the hints, such as: " .. labels[1] .. "\n")

-- 8. Completion at the learning rate: what was tried for it, the best first, what only dead ends had last.
local text_line = vim.api.nvim_buf_get_lines(0, 5, 6, false)[1]
local value = text_line:find("2e-3", 1, true)
vim.api.nvim_win_set_cursor(0, { 6, value - 1 })
local shown
Complete = function()
  vim.wait(TIMEOUT, function() return #vim.fn.complete_info({ "items" }).items > 0 end, 10)
  shown = vim.fn.complete_info({ "items" }).items
end
local keys = vim.api.nvim_replace_termcodes("i<C-x><C-o><Cmd>lua Complete()<CR><C-e><Esc>", true, false, true)
vim.api.nvim_feedkeys(keys, "x", false)
if not shown or #shown < 3 then fail("the list of values: " .. vim.inspect(shown)) end
expect("the best value first", shown[1].abbr, "0.001")
expect("the value of dead ends alone last", shown[#shown].abbr, "0.01")
local function is_struck(item)
  local sent = item.user_data.nvim.lsp.completion_item
  return sent.deprecated == true or vim.list_contains(sent.tags or {}, 1)
end
expect("it is struck through, and the best is not", { is_struck(shown[#shown]), is_struck(shown[1]) }, { true, false })

-- 9. The ids in the comment: a link to the web, a link to a page, and the way to the record.
vim.api.nvim_win_set_cursor(0, { 1, 9 })
opened = nil
vim.api.nvim_feedkeys("gx", "mx", false)
expect("gx opens the run on the web", opened, "https://tracker.example/harbour/HYD-005")
vim.lsp.buf.definition()
step("definition opens a page", function() return vim.api.nvim_buf_get_name(0):find("HYD%-005") ~= nil end)
local page = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
if not page:find("NaN at step 910", 1, true) then fail("the page:\n" .. page) end
vim.cmd("buffer " .. vim.fn.bufnr("follow_up.yaml"))
vim.api.nvim_win_set_cursor(0, { 1, 20 })
vim.api.nvim_feedkeys("gx", "mx", false)
step("gx opens a page where there is none on the web", function()
  return vim.api.nvim_buf_get_name(0):find("c94d1f60") ~= nil
end)

-- 10. The pool is searched as the symbols of the workspace are.
vim.cmd("buffer " .. vim.fn.bufnr("follow_up.yaml"))
vim.lsp.buf.workspace_symbol("out of memory")
step("past experiments are found", function() return #vim.fn.getqflist() > 0 end)
local found_texts = vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())
if not table.concat(found_texts, "\n"):find("HYD-009", 1, true) then fail("found: " .. vim.inspect(found_texts)) end
print("ok " .. found_texts[1])

-- 11. It ends when asked to.
vim.lsp.get_clients({ name = "tried" })[1]:stop()
step("the server stopped", function() return #vim.lsp.get_clients() == 0 end)
print("done")
vim.cmd("qall!")
