-- Raddle in Neovim, 0.7 and later. Copy this file to ~/.config/nvim/lua/raddle.lua, and in init.lua:
--
--     require('raddle').setup()
--     require('raddle').setup { settings = { severity = { suspected = 'hint' } } }
--
-- Settings are those of docs/editors.md. `cmd` names the server if raddle is not on the PATH, `filetypes` the buffers
-- that it gets: C and C# are checked, and stored findings of `raddle run` are shown in the others too.
--
--     :RaddleHunt [ARGUMENTS]    hunts with the arguments of `raddle hunt`, else in the present file
--     :RaddleFindings            what the project's store has
--     :RaddleReplay[!] [FILE]    replays the schedule of the present entry of the quickfix list, with ! in gdb
--
-- The first two fill the quickfix list: an entry for each finding, and below it one for each of its places.

local M = {}

-- The project, by the same marks as raddle itself uses.
local function root_of(path)
  local function nearest(marks)
    local dir = vim.fn.fnamemodify(path, ':p:h')
    while true do
      for _, mark in ipairs(marks) do
        if (vim.uv or vim.loop).fs_stat(dir .. '/' .. mark) then
          return dir
        end
      end
      local parent = vim.fn.fnamemodify(dir, ':h')
      if parent == dir then
        return nil
      end
      dir = parent
    end
  end
  return nearest { 'raddle.toml', '.git' }
    or nearest { 'compile_commands.json' }
    or vim.fn.fnamemodify(path, ':p:h')
end

-- One server for each project. `vim.lsp.start`, from 0.8 on, sees to that itself.
local clients = {}

local function attach(buffer, options)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  local config = {
    name = 'raddle',
    cmd = options.cmd or { 'raddle', 'lsp' },
    root_dir = root,
    settings = { raddle = options.settings },
    init_options = { settings = options.settings },
    flags = { debounce_text_changes = 20 },
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  if not clients[root] or not vim.lsp.get_client_by_id(clients[root]) then
    config.on_exit = function()
      clients[root] = nil
    end
    clients[root] = vim.lsp.start_client(config)
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

local function clients_of(buffer)
  return vim.lsp.get_clients and vim.lsp.get_clients { bufnr = buffer } or vim.lsp.buf_get_clients(buffer)
end

local function tell(text, level)
  vim.notify('raddle: ' .. text, level or vim.log.levels.INFO)
end

-- `a%20b` is `a b`.
local function decoded(uri)
  return (uri:gsub('%%(%x%x)', function(code)
    return string.char(tonumber(code, 16))
  end))
end

-- Entries of the quickfix list for a report in SARIF, whose paths are relative to `dir`. `text` is of the first line of
-- the message only: the rest is prose for a wider page.
local function entries(sarif, dir)
  local list = {}
  local function entry(location, type, text, schedule)
    local physical = location and location.physicalLocation
    local item = { type = type, text = text, user_data = { schedule = schedule, dir = dir } }
    if physical then
      local uri = physical.artifactLocation.uri
      local path = uri:match '^file:' and vim.uri_to_fname(uri) or decoded(uri)
      item.filename = path:sub(1, 1) == '/' and path or dir .. '/' .. path
      item.lnum = physical.region and physical.region.startLine or 0
      item.col = physical.region and physical.region.startColumn or 0
    end
    table.insert(list, item)
  end
  for _, run in ipairs(sarif.runs) do
    for _, result in ipairs(run.results or {}) do
      -- What a baseline or a decision has set aside.
      if not result.suppressions or #result.suppressions == 0 then
        local of = result.properties or {}
        local said = result.message.text:match '^[^\n]*'
        local type = result.level == 'error' and 'E' or 'W'
        entry((result.locations or {})[1], type, (of.confidence or '') .. ' ' .. said, of.schedule)
        for _, place in ipairs(result.relatedLocations or {}) do
          entry(place, 'I', '  ' .. (place.message and place.message.text or ''), of.schedule)
        end
      end
    end
  end
  return list
end

-- Fills the quickfix list. Returns how many findings it has.
local function fill(text, dir, title)
  local ok, sarif = pcall(vim.fn.json_decode, text)
  if not ok or type(sarif) ~= 'table' or not sarif.runs then
    return nil
  end
  local list = entries(sarif, dir)
  vim.fn.setqflist({}, ' ', { title = title, items = list })
  -- `setqflist` of older editors keeps no data of an entry: they are kept here, by place in the list.
  M.schedules = vim.tbl_map(function(item)
    return item.user_data
  end, list)
  return #vim.tbl_filter(function(item)
    return item.type ~= 'I'
  end, list)
end

local function raddle(options)
  return (options.cmd or { 'raddle' })[1]
end

-- Runs raddle, and `ended` with its status and what it wrote to each stream.
local function start(command, dir, ended)
  local out, err = {}, {}
  local job = vim.fn.jobstart(command, {
    cwd = dir,
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, lines)
      out = lines
    end,
    on_stderr = function(_, lines)
      err = lines
    end,
    on_exit = function(_, status)
      ended(status, table.concat(out, '\n'), vim.trim(table.concat(err, '\n')))
    end,
  })
  if job <= 0 then
    tell(command[1] .. ' does not start; `cmd` of setup says where raddle is', vim.log.levels.ERROR)
  end
end

function M.hunt(options, words)
  local dir = vim.fn.getcwd()
  if #words == 0 then
    words = { vim.fn.expand '%:p' }
  end
  local report = vim.fn.tempname()
  local command = { raddle(options), 'hunt', '--format', 'sarif', '-o', report }
  vim.list_extend(command, words)
  local title = 'raddle hunt ' .. table.concat(words, ' ')
  tell(title .. ' …')
  start(command, dir, function(status, _, err)
    local found
    if vim.fn.filereadable(report) == 1 then
      found = fill(table.concat(vim.fn.readfile(report), '\n'), dir, title)
      vim.fn.delete(report)
    end
    if status ~= 0 and status ~= 66 or not found then
      return tell(err ~= '' and err:gsub('^raddle: ', '') or title .. ' failed', vim.log.levels.ERROR)
    end
    if found > 0 then
      vim.cmd 'copen'
    end
    tell(found == 1 and '1 finding' or found .. ' findings')
  end)
end

function M.findings(options)
  local dir = root_of(vim.api.nvim_buf_get_name(0) ~= '' and vim.fn.expand '%:p' or vim.fn.getcwd() .. '/.')
  start({ raddle(options), 'report', '--format', 'sarif' }, dir, function(status, out, err)
    local found = status == 0 and fill(out, dir, 'raddle findings')
    if not found then
      return tell(err:gsub('^raddle: ', ''), vim.log.levels.ERROR)
    end
    if found > 0 then
      vim.cmd 'copen'
    end
    tell(found == 1 and '1 finding' or found .. ' findings')
  end)
end

-- The schedule of the present entry: of the line of the cursor in the quickfix window, else of the last jump.
local function present_schedule()
  local at = vim.bo.buftype == 'quickfix' and vim.fn.line '.' or vim.fn.getqflist({ idx = 0 }).idx
  local of = (M.schedules or {})[at]
  if not of or not of.schedule then
    return nil
  end
  if of.schedule:sub(1, 1) == '/' then
    return of.schedule
  end
  local path = of.dir .. '/' .. of.schedule
  if vim.fn.filereadable(path) == 1 then
    return path
  end
  -- The hunt was in another folder of the project.
  local found = vim.fn.findfile(vim.fn.fnamemodify(path, ':t'), of.dir .. '/**')
  return found ~= '' and vim.fn.fnamemodify(found, ':p') or path
end

-- In a terminal below, where gdb can be talked to.
function M.replay(options, file, in_gdb)
  file = file ~= '' and file or present_schedule()
  if not file then
    return tell('the present entry of the quickfix list has no schedule; name a .raddle file', vim.log.levels.ERROR)
  end
  local command = { raddle(options), 'replay' }
  vim.list_extend(command, in_gdb and { '--gdb', file } or { file })
  vim.cmd 'botright new'
  if vim.fn.has 'nvim-0.11' == 1 then
    vim.fn.jobstart(command, { term = true })
  else
    vim.fn.termopen(command)
  end
end

local function add_commands(options)
  local add = vim.api.nvim_create_user_command
  add('RaddleHunt', function(call)
    M.hunt(options, vim.tbl_map(vim.fn.expandcmd, call.fargs))
  end, { nargs = '*', complete = 'file', desc = 'Hunt; findings go to the quickfix list' })
  add('RaddleFindings', function()
    M.findings(options)
  end, { desc = "The project's findings in the quickfix list" })
  add('RaddleReplay', function(call)
    M.replay(options, vim.fn.expandcmd(call.args), call.bang)
  end, { nargs = '?', bang = true, complete = 'file', desc = 'Replay a schedule; with ! in gdb' })
end

function M.setup(options)
  options = options or {}
  add_commands(options)
  local group = vim.api.nvim_create_augroup('raddle', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = options.filetypes or { 'c', 'cpp', 'cs', 'rust' },
    callback = function(event)
      attach(event.buf, options)
      if vim.lsp.codelens.enable then
        vim.lsp.codelens.enable(true, { bufnr = event.buf })
      end
    end,
  })
  -- From 0.12 on the server asks for that itself.
  if vim.lsp.codelens.enable then
    return
  end
  -- A lens says what was checked, so it is stale when diagnostics have come.
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = group,
    callback = function()
      for _, client in pairs(clients_of(0)) do
        if client.name == 'raddle' then
          vim.lsp.codelens.refresh()
        end
      end
    end,
  })
end

return M
